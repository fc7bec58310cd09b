import { ConsolePage, openBrowser } from "../../tests/support/console-browser.ts";

const PHONE = { width: 390, height: 844 };

/** Opens the link of `npm start` on a screen as narrow as a phone's, asks for a change there, and says yes to it. */
export async function approveOnPhone(link: string, task: string): Promise<void> {
  const browser = await openBrowser();
  try {
    const { page, troubles } = await ConsolePage.open(browser, link, PHONE);
    await page.getByLabel("What should be done?").fill(task);
    await page.getByRole("button", { name: "Run" }).click();
    await page.waitForURL(/\/runs\/run_/);
    await page.getByRole("link", { name: "Waiting for you" }).click();
    await page.getByRole("button", { name: "Yes, once" }).click();
    await page.getByText("Nothing waits for you.").waitFor();
    if (troubles.length > 0) throw new Error(`On the phone: ${troubles.join("; ")}`);
  } finally {
    await browser.close();
  }
}

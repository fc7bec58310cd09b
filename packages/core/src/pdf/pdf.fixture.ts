import { deflateSync } from "node:zlib";

/** A PDF for tests: objects by number, written one after the other with a trailer. */
export function writePdf(objects: Readonly<Record<number, string | Buffer>>, trailer = "/Root 1 0 R"): Buffer {
  const parts = Object.entries(objects).map(([number, body]) =>
    Buffer.concat([Buffer.from(`${number} 0 obj\n`), Buffer.from(body), Buffer.from("\nendobj\n")]),
  );
  return Buffer.concat([Buffer.from("%PDF-1.7\n"), ...parts, Buffer.from(`trailer << ${trailer} >>\n%%EOF\n`)]);
}

/** A stream of a PDF, compressed unless said otherwise. */
export function pdfStream(content: string | Buffer, { dictionary = "", plain = false } = {}): Buffer {
  const bytes = plain ? Buffer.from(content) : deflateSync(content);
  const filter = plain ? "" : "/Filter /FlateDecode";
  const head = `<< ${dictionary} ${filter} /Length ${bytes.length} >>\nstream\n`;
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from("\nendstream")]);
}

/** A PDF with one font and a page for each text; the text stands in the page's operators. */
export function pdfOf(...pages: readonly string[]): Buffer {
  const number = (at: number): number => 10 + at * 2;
  const kids = pages.map((_, at) => `${number(at)} 0 R`).join(" ");
  const objects: Record<number, string | Buffer> = {
    1: "<< /Type /Catalog /Pages 2 0 R >>",
    2: `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} /Resources << /Font << /F1 3 0 R >> >> >>`,
    3: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
  };
  for (const [at, text] of pages.entries()) {
    objects[number(at)] = `<< /Type /Page /Parent 2 0 R /Contents ${number(at) + 1} 0 R >>`;
    const escaped = text.replace(/[()\\]/g, "\\$&").replaceAll("\n", ") ' (");
    const content = `BT /F1 12 Tf 14 TL 72 720 Td (${escaped}) Tj ET`.replace("Tj", text.includes("\n") ? "'" : "Tj");
    objects[number(at) + 1] = pdfStream(Buffer.from(content, "latin1"));
  }
  return writePdf(objects);
}

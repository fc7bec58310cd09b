// @ts-nocheck
import { once } from "node:events";
import ssh2 from "ssh2";

/**
 * A connection that is held; gives what runs a command on it, and rejects unless the command ends with 0.
 * @param {{ port: number, username: string, privateKey: string }} login
 * @returns {Promise<(command: string) => Promise<void>>}
 */
export async function held(login) {
  const client = new ssh2.Client();
  const ready = once(client, "ready");
  client.connect({ ...login, host: "127.0.0.1" });
  await ready;
  client.setNoDelay(true);
  return (command) =>
    new Promise((resolve, reject) => {
      client.exec(command, (error, stream) => {
        if (error) return reject(error);
        stream.resume();
        stream.stderr.resume();
        stream.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`It ended with ${code}.`))));
      });
    });
}

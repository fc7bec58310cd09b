import { Vidro } from "@vidro/client";

// Follows a run with the client, in a process of its own, and prints each entry as a line when it comes.
const [url = "", token = "", run = ""] = process.argv.slice(2);
const vidro = new Vidro({ url, token });
for await (const followed of vidro.attach(run).follow({ live: false }))
  if ("entry" in followed)
    process.stdout.write(`${JSON.stringify({ seq: followed.entry.seq, type: followed.entry.event.type })}\n`);

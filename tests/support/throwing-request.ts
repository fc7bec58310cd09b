// As a preload: a request whose body names it makes node:http's client throw in a timer of its own.
import http from "node:http";
import type { ClientRequest, RequestOptions } from "node:http";

const { request } = http;

http.request = ((url: URL, options: RequestOptions): ClientRequest => {
  const made = request(url, options);
  const end = made.end.bind(made) as (body?: string) => ClientRequest;
  made.end = ((body?: string) => {
    if (!String(body).includes("sabotage")) return end(body);
    setTimeout(() => {
      throw new Error("an error outside every guard");
    }, 1);
    return made;
  }) as typeof made.end;
  return made;
}) as typeof http.request;

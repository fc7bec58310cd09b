/** The part of Express that the tests use; it comes without types. */
declare module "express" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  interface Request extends IncomingMessage {
    body?: unknown;
  }
  interface Response extends ServerResponse {
    status(code: number): Response;
    json(payload: unknown): Response;
    send(body?: unknown): Response;
    redirect(url: string): void;
    type(name: string): Response;
  }
  type Next = (error?: unknown) => void;
  type Handle = (request: Request, response: Response, next: Next) => unknown;
  type ErrorHandle = (error: unknown, request: Request, response: Response, next: Next) => unknown;
  interface Application {
    (request: IncomingMessage, response: ServerResponse): void;
    use(handle: Handle | ErrorHandle): Application;
    all(path: string, handle: Handle): Application;
    get(path: string, handle: Handle): Application;
    set(name: string, value: unknown): Application;
    disable(name: string): Application;
  }
  function express(): Application;
  namespace express {
    function json(options?: { limit?: number }): Handle;
  }
  export type { Application, Handle, Request, Response };
  export default express;
}

const IPV4 = /^127(?:\.\d{1,3}){3}$/;

/** Whether a host names this machine itself, so that nothing sent there crosses a network. Brackets around IPv6 are accepted. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase();
  return name === "localhost" || name === "::1" || name === "[::1]" || IPV4.test(name);
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { seccompFilter } from "./seccomp-filter.ts";

/* The filter is run by an interpreter of classic BPF, as the kernel runs it for each system call. */

const [ALLOW, EPERM, ENOSYS, KILL] = [0x7fff0000, 0x00050001, 0x00050026, 0x80000000];
const ARCHS = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const I386 = 0x40000003;

interface SystemCall {
  readonly call: number;
  readonly architecture: number;
  readonly argument?: bigint;
}

/** What a filter answers to a call; fails where the kernel would refuse the filter. */
function answerTo(filter: Uint8Array, { call, architecture, argument = 0n }: SystemCall): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call, 0);
  data.writeUInt32LE(architecture, 4);
  data.writeBigUInt64LE(argument, 16);
  const program = Buffer.from(filter);
  let loaded = 0;
  for (let at = 0; at * 8 < program.length; at += 1) {
    const [code, yes, no, value] = [
      program.readUInt16LE(at * 8),
      program.readUInt8(at * 8 + 2),
      program.readUInt8(at * 8 + 3),
      program.readUInt32LE(at * 8 + 4),
    ];
    if (code === 0x06) return value;
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else {
      const holds = code === 0x15 ? loaded === value : code === 0x35 ? loaded >= value : (loaded & value) !== 0;
      assert.ok([0x15, 0x35, 0x45].includes(code), `instruction ${code.toString(16)}`);
      at += holds ? yes : no;
    }
  }
  assert.fail("the filter ends without an answer");
}

const filterOf = (arch: string, sockets = true): Uint8Array => {
  const filter = seccompFilter(arch, { sockets });
  assert.ok(filter !== undefined);
  return filter;
};

/** Calls that no sandboxed program needs, by the names of the kernel's tables. */
const REFUSED = {
  x64: {
    add_key: 248,
    keyctl: 250,
    ptrace: 101,
    process_vm_writev: 311,
    unshare: 272,
    setns: 308,
    mount: 165,
    umount2: 166,
    pivot_root: 155,
    chroot: 161,
    open_by_handle_at: 304,
    bpf: 321,
    perf_event_open: 298,
    userfaultfd: 323,
    memfd_create: 319,
    kexec_load: 246,
    init_module: 175,
    reboot: 169,
    io_uring_setup: 425,
    move_mount: 429,
    mount_setattr: 442,
    pidfd_getfd: 438,
    memfd_secret: 447,
  },
  arm64: {
    add_key: 217,
    keyctl: 219,
    ptrace: 117,
    process_vm_writev: 271,
    unshare: 97,
    setns: 268,
    mount: 40,
    umount2: 39,
    pivot_root: 41,
    chroot: 51,
    open_by_handle_at: 265,
    bpf: 280,
    perf_event_open: 241,
    userfaultfd: 282,
    memfd_create: 279,
    kexec_load: 104,
    init_module: 105,
    reboot: 142,
    io_uring_setup: 425,
    move_mount: 429,
    mount_setattr: 442,
    pidfd_getfd: 438,
    memfd_secret: 447,
  },
} as const;

/** Calls without which no program runs. */
const NEEDED = {
  x64: { read: 0, write: 1, mmap: 9, clone: 56, fork: 57, execve: 59, exit_group: 231, openat: 257, socketpair: 53 },
  arm64: { read: 63, write: 64, mmap: 222, clone: 220, execve: 221, exit_group: 94, openat: 56, socketpair: 199 },
} as const;

for (const arch of ["x64", "arm64"] as const) {
  const architecture = ARCHS[arch];

  test(`on ${arch} calls for keys, other processes, mounts and uncounted memory are not permitted`, () => {
    for (const sockets of [true, false])
      for (const [name, call] of Object.entries(REFUSED[arch]))
        assert.equal(answerTo(filterOf(arch, sockets), { call, architecture }), EPERM, name);
  });

  test(`on ${arch} what programs need goes on, and sockets only where they are allowed`, () => {
    for (const [name, call] of Object.entries(NEEDED[arch]))
      assert.equal(answerTo(filterOf(arch, false), { call, architecture }), ALLOW, name);
    const socket = { call: arch === "x64" ? 41 : 198, architecture };
    assert.equal(answerTo(filterOf(arch, true), socket), ALLOW);
    assert.equal(answerTo(filterOf(arch, false), socket), EPERM);
  });

  test(`on ${arch} no clone makes a namespace, whatever other flags it has, and clone3 is not there`, () => {
    const filter = filterOf(arch);
    const clone = (argument: bigint): number => answerTo(filter, { call: NEEDED[arch].clone, architecture, argument });
    // SIGCHLD alone; then what pthread_create passes.
    for (const flags of [0x11n, 0x3d0f00n, 0x01200011n]) assert.equal(clone(flags), ALLOW);
    for (const namespace of [0x00020000n, 0x02000000n, 0x04000000n, 0x08000000n, 0x10000000n, 0x20000000n, 0x40000000n])
      for (const flags of [0n, 0x11n, 0x3d0f00n, 1n << 63n])
        assert.equal(clone(namespace | flags), EPERM, `${namespace}`);
    assert.equal(answerTo(filter, { call: 435, architecture }), ENOSYS);
  });

  test(`on ${arch} calls of another architecture end the program, and those of another ABI are not permitted`, () => {
    const filter = filterOf(arch);
    for (const other of [I386, ARCHS[arch === "x64" ? "arm64" : "x64"], 0])
      for (const call of [0, 1, 165]) assert.equal(answerTo(filter, { call, architecture: other }), KILL);
    for (const call of [0x40000000, 0x40000000 + 165, 0x7fffffff, 0xffffffff])
      assert.equal(answerTo(filter, { call, architecture }), EPERM);
  });

  test(`on ${arch} every call number has an answer, and the filter is short enough for the kernel`, () => {
    const filter = filterOf(arch, false);
    assert.equal(filter.length % 8, 0);
    assert.ok(filter.length / 8 <= 4096);
    const answers = new Map<number, number>();
    for (let call = 0; call < 600; call += 1) {
      const answer = answerTo(filter, { call, architecture });
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    assert.deepEqual(new Set(answers.keys()), new Set([EPERM, ENOSYS, ALLOW]));
    assert.equal(answers.get(ENOSYS), 1);
  });
}

test("an architecture that is not known has no filter, whatever its name", () => {
  for (const arch of ["ia32", "riscv64", "mips", ""])
    assert.equal(seccompFilter(arch, { sockets: true }), undefined, arch);
});

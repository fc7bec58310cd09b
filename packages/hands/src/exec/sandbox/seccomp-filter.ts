/*
 * A seccomp filter (classic BPF) that refuses system calls which sandboxed programs do not need: kernel keyrings, other
 * processes' memory, namespaces, mounts, and memory that no limit counts. Bubblewrap gets it as bytes.
 */

/** The audit number of an architecture and the numbers of its system calls. */
interface Architecture {
  readonly audit: number;
  readonly clone: number;
  readonly socket: number;
  readonly refused: readonly number[];
}

/** clone3, whose flags are in memory that a filter cannot read. */
const CLONE3 = 435;

/**
 * Calls with one number everywhere: io_uring_setup, _enter, _register (which do what other calls do, past any filter);
 * open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr; pidfd_getfd; memfd_secret.
 */
const REFUSED_EVERYWHERE = [425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 438, 447];

/*
 * Line by line: add_key, request_key, keyctl; ptrace, process_vm_readv, process_vm_writev; unshare, setns; mount,
 * umount2, pivot_root, chroot; open_by_handle_at; bpf, perf_event_open, userfaultfd; memfd_create; kexec_load,
 * kexec_file_load, init_module, delete_module, finit_module; swapon, swapoff, reboot.
 */
const ARCHITECTURES: { readonly [arch: string]: Architecture } = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    socket: 41,
    refused: [
      [248, 249, 250],
      [101, 310, 311],
      [272, 308],
      [165, 166, 155, 161],
      [304],
      [321, 298, 323],
      [319],
      [246, 320, 175, 176, 313],
      [167, 168, 169],
    ].flat(),
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    socket: 198,
    refused: [
      [217, 218, 219],
      [117, 270, 271],
      [97, 268],
      [40, 39, 41, 51],
      [265],
      [280, 241, 282],
      [279],
      [104, 294, 105, 106, 273],
      [224, 225, 142],
    ].flat(),
  },
};

/** The flags of clone that create a namespace, except CLONE_NEWTIME, whose bit is part of the exit signal there. */
const NEW_NAMESPACES = 0x7e020000;
/** On x64, call numbers from here on belong to the x32 ABI. */
const OTHER_CALLS = 0x40000000;

const [LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN] = [0x20, 0x15, 0x35, 0x45, 0x06];
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

/** Offsets of the call number, the architecture and the first argument in seccomp_data. */
const AT = { call: 0, architecture: 4, firstArgument: 16 } as const;

type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, value: number];

const returnInstruction = (value: number): Instruction => [RETURN, 0, 0, value];

/** Returns `answer` if the call number matches, else jumps over it. */
const refuseInstructions = (call: number, answer: number): readonly Instruction[] => [
  [JUMP_EQUAL, 0, 1, call],
  returnInstruction(answer),
];

/**
 * The filter for an architecture as Node names it; undefined for an unknown one. Without sockets, a program reaches
 * nothing but its own pipes: for read-only programs this replaces a network namespace, and costs no set-up time.
 */
export function seccompFilter(arch: string, { sockets }: { readonly sockets: boolean }): Uint8Array | undefined {
  const known = ARCHITECTURES[arch];
  if (known === undefined) return undefined;
  const refused = [...known.refused, ...REFUSED_EVERYWHERE, ...(sockets ? [] : [known.socket])];
  return encodeProgram([
    [LOAD, 0, 0, AT.architecture],
    [JUMP_EQUAL, 1, 0, known.audit],
    returnInstruction(KILL),
    [LOAD, 0, 0, AT.call],
    [JUMP_AT_LEAST, 0, 1, OTHER_CALLS],
    returnInstruction(EPERM),
    ...refused.flatMap((call) => refuseInstructions(call, EPERM)),
    // Without clone3 the C library falls back to clone, whose flags the filter can read.
    ...refuseInstructions(CLONE3, ENOSYS),
    [JUMP_EQUAL, 0, 3, known.clone],
    [LOAD, 0, 0, AT.firstArgument],
    [JUMP_ANY_BIT, 0, 1, NEW_NAMESPACES],
    returnInstruction(EPERM),
    returnInstruction(ALLOW),
  ]);
}

function encodeProgram(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, whenTrue, whenFalse, value]] of program.entries()) {
    const at = bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt32LE(value, bytes.writeUInt8(whenFalse, bytes.writeUInt8(whenTrue, at)));
  }
  return bytes;
}

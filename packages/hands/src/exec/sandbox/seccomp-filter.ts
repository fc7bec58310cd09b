/*
 * A program in the sandbox has no business with the kernel's keyrings, with other processes' memory, with namespaces
 * and mounts, or with memory that no limit counts. A filter (seccomp, classic BPF) refuses such calls before the kernel
 * looks at them; it is handed to bubblewrap as bytes.
 */

/** The number that the kernel knows an architecture by, and its system calls. */
interface Architecture {
  readonly audit: number;
  readonly clone: number;
  readonly socket: number;
  readonly refused: readonly number[];
}

/** clone3, which has its flags where no filter can look. */
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

/** All flags of clone that make a namespace: time is not among them, since its bit is part of a signal there. */
const NEW_NAMESPACES = 0x7e020000;
/** On x64, the calls from here on are those of another set with other numbers. */
const OTHER_CALLS = 0x40000000;

const [LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN] = [0x20, 0x15, 0x35, 0x45, 0x06];
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

/** Where the kernel puts the number of the call, the architecture and the first argument. */
const AT = { call: 0, architecture: 4, firstArgument: 16 } as const;

type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, value: number];

const returnInstruction = (value: number): Instruction => [RETURN, 0, 0, value];

/** Refuses a call: jumps over the answer unless the number is the call's. */
const refuseInstructions = (call: number, answer: number): readonly Instruction[] => [
  [JUMP_EQUAL, 0, 1, call],
  returnInstruction(answer),
];

/**
 * The filter for an architecture as Node names it; undefined where its calls are not known. Without sockets, a program
 * talks to nothing but its own pipes: for one that only reads, this is the wall that a network of its own would be, and
 * takes no time to make.
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
    // A library that is told there is no clone3 takes clone, whose flags can be seen.
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

import { availableParallelism } from 'node:os';
import type { HardwareKind } from '../../kernel/video-codecs.ts';
import type { ProgramLimits } from './guard.ts';

const GB = 2 ** 30;
/** A ladder of 4K takes one or two; the rest is address space that threads reserve and do not use. */
const BASE_BYTES = 6 * GB;
const BYTES_PER_CORE = GB / 2;
/** CPU time per core: a broadcast has no natural end, but none uses seven days of work. */
const CPU_SEC_PER_CORE = 7 * 86_400;

const TRY_CPU_SEC = 30;

/** Returns the limits of an ffmpeg that reads a publish. */
export function liveLimits(fileBytes: number): ProgramLimits {
  const cores = availableParallelism();
  return {
    memoryBytes: BASE_BYTES + cores * BYTES_PER_CORE,
    cpuSec: cores * CPU_SEC_PER_CORE,
    fileBytes,
    isLive: true,
  };
}

/** Reports whether the interface reserves address space: CUDA does for all existing memory. */
export function reserves(kind: HardwareKind): boolean {
  return kind === 'nvenc';
}

/** Returns the limits of an ffmpeg that probes a hardware encoder. */
export function hardwareLimits(kind: HardwareKind): ProgramLimits {
  return { ...liveLimits(0), cpuSec: TRY_CPU_SEC, isReserving: reserves(kind) };
}

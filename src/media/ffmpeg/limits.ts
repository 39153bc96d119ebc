import { availableParallelism } from 'node:os';
import type { HardwareKind } from '../../kernel/video-codecs.ts';
import type { ProgramLimits } from './guard.ts';

const GB = 2 ** 30;
/** A ladder of 4K takes one or two; the rest is address space that threads reserve and do not use. */
const BASE_BYTES = 6 * GB;
const BYTES_PER_CORE = GB / 2;
/** A broadcast has no end of its own, but nothing goes on for so many days of work. */
const CPU_SEC_PER_CORE = 7 * 86_400;

const TRY_CPU_SEC = 30;

/** What an ffmpeg that reads a publish may take. */
export function liveLimits(fileBytes: number): ProgramLimits {
  const cores = availableParallelism();
  return {
    memoryBytes: BASE_BYTES + cores * BYTES_PER_CORE,
    cpuSec: cores * CPU_SEC_PER_CORE,
    fileBytes,
    isLive: true,
  };
}

/** CUDA reserves addresses for all memory that there is. */
export function reserves(kind: HardwareKind): boolean {
  return kind === 'nvenc';
}

/** What an ffmpeg may take that tries an encoder in hardware. */
export function hardwareLimits(kind: HardwareKind): ProgramLimits {
  return { ...liveLimits(0), cpuSec: TRY_CPU_SEC, isReserving: reserves(kind) };
}

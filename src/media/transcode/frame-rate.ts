import type { ProbedStream } from './ffprobe.ts';
import type { TrackScan } from './scan.ts';

const NTSC = 1000 / 1001;
const STANDARD_RATES = [
  ...[10, 12, 15, 20, 24 * NTSC, 24, 25, 30 * NTSC, 30],
  ...[48, 50, 60 * NTSC, 60, 100, 120 * NTSC, 120, 240],
];
/** Tolerance for equal frame rates; 30 and 29.97 are 0.1 % apart. */
const SAME_RATE = 0.0004;
const NEARLY = 0.02;
const ROUNDING_SEC = 0.0006;
const DEFAULT_RATE = 25;
/** Maximum rate for a source with a variable frame rate: smooth, and no faster than displays. */
const VARIABLE_RATE_MAX = 60;
const MIN_RATE = 1;

/** Returns the frame rate of the source; for a variable rate, the one to play at. */
export function frameRateOf(
  stream: Pick<ProbedStream, 'codec_name' | 'avg_frame_rate' | 'r_frame_rate' | 'field_order'>,
  track: Pick<TrackScan, 'frameSec' | 'meanFrameSec' | 'isVariable' | 'packets'>,
): { frameRate: number; isVariable: boolean } {
  const average = fraction(stream.avg_frame_rate);
  const base = fraction(stream.r_frame_rate);
  // Theora has a constant rate and omits frames identical to the previous one.
  const isThinned = stream.codec_name === 'theora' && base > 0;
  if (isThinned || track.frameSec === 0 || track.packets < 3) {
    const told = isThinned ? base : average || base || DEFAULT_RATE;
    return {
      frameRate: atLeastOne(nearStandard(told, SAME_RATE)),
      isVariable: false,
    };
  }
  if (track.isVariable) {
    const fastest = Math.max(1 / track.frameSec, 1 / track.meanFrameSec);
    // Frames at a constant rate with many omitted: each is shown at its time.
    const isAtBase = base <= VARIABLE_RATE_MAX && base >= fastest * (1 - NEARLY);
    const rate = isAtBase ? base : nearStandard(fastest, NEARLY);
    return {
      frameRate: atLeastOne(Math.min(nearStandard(rate, SAME_RATE), VARIABLE_RATE_MAX)),
      isVariable: true,
    };
  }
  const counted = 1 / track.meanFrameSec;
  // Packets of interlaced video may be fields.
  if (Math.abs(counted / 2 / average - 1) < NEARLY) {
    return { frameRate: atLeastOne(nearStandard(average, SAME_RATE)), isVariable: false };
  }
  const byDistance = STANDARD_RATES.toSorted((a, b) => Math.abs(a - counted) - Math.abs(b - counted));
  const beat = [base, average, ...byDistance].find((rate) => fits(rate, track.frameSec, counted));
  return { frameRate: atLeastOne(nearStandard(beat ?? counted, SAME_RATE)), isVariable: false };
}

/** Containers round times to milliseconds. */
function fits(rate: number, frameSec: number, counted: number): boolean {
  return Math.abs(1 / rate - frameSec) <= ROUNDING_SEC && Math.abs(rate / counted - 1) < NEARLY;
}

/** Maximum frame rates of the rungs below the best ones. */
export const REDUCED_RATES = { medium: 60, small: 30 } as const;

/** Returns n for keeping every n-th frame, so that the times of the remaining frames do not change. */
export function rateDivisor(frameRate: number, ceiling: number): number {
  // A measured 60.2 counts as 60.
  return Math.max(1, Math.ceil(frameRate / ceiling - 0.01));
}

/** Formats exact rates such as `30000/1001`, to avoid drift over twelve hours. */
export function rateText(frameRate: number): string {
  const whole = Math.round(frameRate / NTSC);
  const isNtsc = Math.abs(frameRate - whole * NTSC) < 1e-6 && !Number.isInteger(frameRate);
  if (isNtsc) return `${whole * 1000}/1001`;
  return Number.isInteger(frameRate) ? String(frameRate) : `${Math.round(frameRate * 1000)}/1000`;
}

/** Returns the nearest standard rate within the tolerance, or the rate itself. */
function nearStandard(rate: number, tolerance: number): number {
  const nearest = STANDARD_RATES.toSorted((a, b) => Math.abs(a - rate) - Math.abs(b - rate))[0] ?? rate;
  return Math.abs(nearest / rate - 1) <= tolerance ? nearest : Math.round(rate * 1000) / 1000;
}

function atLeastOne(rate: number): number {
  return Math.max(rate, MIN_RATE);
}

function fraction(text: string | undefined): number {
  const [numerator = 0, denominator = 0] = (text ?? '').split('/').map(Number);
  const value = numerator / denominator;
  return Number.isFinite(value) && value > 0 && value <= 1000 ? value : 0;
}

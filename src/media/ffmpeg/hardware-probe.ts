import {
  type EncoderChoice,
  HARDWARE_KINDS,
  type HardwareKind,
  type VideoCodec,
} from '../../kernel/video-codecs.ts';
import type { Logger } from '../../platform/logger.ts';
import { deviceNodes } from './devices.ts';
import type { Guard } from './guard.ts';
import {
  deviceArgs,
  fileEncoderArgs,
  HARDWARE_FORMATS,
  HARDWARE_TASKS,
  type Hardware,
  type HardwareEncode,
  type HardwareTask,
  liveEncoderOptions,
  uploadFilters,
} from './hardware.ts';
import { hardwareLimits } from './limits.ts';
import { spawnFfmpeg } from './process.ts';

export interface HardwareSearch {
  /** `VIDEO_ENCODER`. */
  choice: EncoderChoice;
  /** `VAAPI_DEVICE`. */
  vaapiDevice: string;
  /** That are wanted: no others are tried. */
  codecs: readonly VideoCodec[];
  ffmpeg: string;
  guard: Guard;
  log: Logger;
}

/** Available hardware encoders, and one line for each task that does not work with the reason. */
export interface HardwareProbeResult {
  hardware: Hardware | null;
  /** Failures by task, or by interface when none of its tasks works. */
  refusals: readonly { what: string; reason: string }[];
}

const NONE: HardwareProbeResult = { hardware: null, refusals: [] };
const FRAMES = 12;
/** Frame number of the second keyframe. */
const FORCED = 6;
/** Smallest rung encoded in hardware; its size is not a multiple of the block size. */
const SIZE = '426x240';
const TRY_MS = 20_000;

/**
 * Probes the interface: each codec encodes some frames with the options used later, in an equal sandbox. A
 * codec that fails in any way, or has keyframes at other positions than requested, is left to the software
 * (docs/decisions/transcoding.md#hardware).
 */
export async function findHardware(search: HardwareSearch): Promise<HardwareProbeResult> {
  const { choice } = search;
  if (choice === 'software') return NONE;
  if (choice !== 'auto') return tryKind(search, choice);
  for (const kind of HARDWARE_KINDS) {
    const found = await tryKind(search, kind);
    if (found.hardware !== null) return found;
    search.log.info({ tried: found.refusals }, 'no hardware encoder');
  }
  return NONE;
}

async function tryKind(search: HardwareSearch, kind: HardwareKind): Promise<HardwareProbeResult> {
  const device = kind === 'vaapi' ? search.vaapiDevice : null;
  const nodes = await deviceNodes(kind, search.vaapiDevice);
  const hardware: Hardware = { kind, device, nodes, can: HARDWARE_TASKS };
  const plain = await tryTask(search, hardware, 'H264');
  // Without H.264 there is no ladder, and the other codecs fail for the same reason.
  if (plain !== null) return { hardware: null, refusals: [{ what: kind, reason: plain }] };
  const can: HardwareTask[] = ['H264'];
  const failures: HardwareProbeResult['refusals'][number][] = [];
  // One at a time: cards count those that are open.
  const wanted = ({ codec }: Pick<HardwareEncode, 'codec'>) => search.codecs.includes(codec);
  for (const task of HARDWARE_TASKS.slice(1).filter((one) => wanted(HARDWARE_FORMATS[one]))) {
    const reason = await tryTask(search, hardware, task);
    if (reason === null) can.push(task);
    else failures.push({ what: `${task} by ${kind}`, reason });
  }
  return { hardware: { ...hardware, can }, refusals: failures };
}

/** @returns why it is not done, in one line; null when it is. */
async function tryTask(
  { ffmpeg, guard, log }: HardwareSearch,
  hardware: Hardware,
  task: HardwareTask,
): Promise<string | null> {
  let told = '';
  const view = { reads: [], writes: null, devices: hardware.nodes };
  const child = spawnFfmpeg({
    program: await guard.start(ffmpeg, hardwareLimits(hardware.kind), view),
    args: tryArgs(hardware, task),
    log,
    onOutput: (text) => {
      told += text;
    },
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), TRY_MS);
  const { code, signal, stderr, spawnError } = await child.exited;
  clearTimeout(timer);
  if (spawnError !== undefined) return spawnError;
  if (code === 0) return judge(told);
  if (signal !== null) return `it was ended by ${signal}`;
  const said = stderr.split('\n').find((line) => /\S/.test(line));
  return said?.replace(/ @ 0x[0-9a-f]+/g, '').slice(0, 300) ?? `it ended with ${code}`;
}

/** Returns arguments that encode frames like those of a file, with one requested keyframe. */
function tryArgs(hardware: Hardware, task: HardwareTask): string[] {
  const { is10Bit } = HARDWARE_FORMATS[task];
  const filters = [`format=${is10Bit ? 'yuv420p10le' : 'yuv420p'}`, ...uploadFilters(hardware.kind, is10Bit)];
  return [
    ...['-nostdin', '-v', 'error', ...deviceArgs(hardware)],
    ...['-f', 'lavfi', '-i', `testsrc2=s=${SIZE}:r=30`, '-frames:v', String(FRAMES)],
    ...['-vf', filters.join(), ...encoderArgsOf(hardware.kind, task)],
    ...['-force_key_frames', `expr:eq(n,${FORCED})`, '-g', '9999', '-flags:v', '+global_header'],
    ...['-f', 'framecrc', 'pipe:1'],
  ];
}

const BITRATE = 400_000;

function encoderArgsOf(kind: HardwareKind, task: HardwareTask): string[] {
  if (task === 'LIVE') {
    const options = { ...liveEncoderOptions(kind, '3.0'), b: '400k', maxrate: '440k', bufsize: '600k' };
    return Object.entries(options).flatMap(([name, value]) => [`-${name}:v`, value]);
  }
  return fileEncoderArgs(kind, { ...HARDWARE_FORMATS[task], ceiling: BITRATE });
}

/**
 * @param told output of the muxer: `stream, dts, pts, duration, bytes, checksum`, and `F=0x0` after a frame
 *   that is not a keyframe.
 */
function judge(told: string): string | null {
  const lines = told.split('\n').filter((line) => /^\d/.test(line));
  if (lines.length !== FRAMES) return `${lines.length} of ${FRAMES} frames were encoded`;
  if (!/^#extradata 0:/m.test(told)) return 'it writes no header';
  const delays = lines.map((line) => {
    const [, dts, pts] = line.split(',');
    return Number(pts) - Number(dts);
  });
  if (new Set(delays).size > 1) return 'it reorders frames';
  const keys = lines.flatMap((line, index) => (/F=0x0/.test(line) ? [] : [index]));
  return keys.join() === `0,${FORCED}` ? null : 'its keyframes are not at the requested positions';
}

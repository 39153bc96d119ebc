import type { HardwareKind, VideoCodec } from '../../kernel/video-codecs.ts';

/** Hardware tasks: one codec with 8 or 10 bits each, and broadcasts, which are H.264. */
export const HARDWARE_TASKS = ['H264', 'HEVC', 'HEVC_10', 'AV1', 'AV1_10', 'LIVE'] as const;
export type HardwareTask = (typeof HARDWARE_TASKS)[number];

export const HARDWARE_FORMATS: Readonly<Record<HardwareTask, Pick<HardwareEncode, 'codec' | 'is10Bit'>>> = {
  H264: { codec: 'H264', is10Bit: false },
  HEVC: { codec: 'HEVC', is10Bit: false },
  HEVC_10: { codec: 'HEVC', is10Bit: true },
  AV1: { codec: 'AV1', is10Bit: false },
  AV1_10: { codec: 'AV1', is10Bit: true },
  LIVE: { codec: 'H264', is10Bit: false },
};

/** An encoder in hardware that works here (docs/decisions/transcoding.md#hardware). */
export interface Hardware {
  kind: HardwareKind;
  /** VAAPI device; null for the others. */
  device: string | null;
  /** Device nodes in `/dev` that programs encoding with it need. */
  nodes: readonly string[];
  /** Tasks that succeeded when probed. */
  can: readonly HardwareTask[];
}

/** Part of a run that is encoded in hardware. */
export interface HardwareUse {
  hardware: Hardware;
  /** Names of the rungs. */
  names: ReadonlySet<string>;
}

/** One encode. */
export interface HardwareEncode {
  codec: VideoCodec;
  /** Bits per second that it may not be above for long. */
  ceiling: number;
  /** With 10 bits. */
  is10Bit: boolean;
}

const NAMES: Readonly<Record<VideoCodec, string>> = { H264: 'h264', HEVC: 'hevc', AV1: 'av1' };
/** Share of the maximum bitrate: encoders without constant quality get it as their average. */
const AVERAGE_SHARE = 0.75;
/** Quality that roughly equals CRF 23, 25 and 35 of the software encoders. */
const NVENC_QUALITY: Readonly<Record<VideoCodec, string>> = { H264: '26', HEVC: '28', AV1: '34' };

export function hardwareEncoder(kind: HardwareKind, codec: VideoCodec): string {
  return `${NAMES[codec]}_${kind}`;
}

export function taskOf({ codec, is10Bit }: Pick<HardwareEncode, 'codec' | 'is10Bit'>): HardwareTask {
  if (codec === 'H264') return 'H264';
  return is10Bit ? `${codec}_10` : codec;
}

/** Returns the options before all inputs. */
export function deviceArgs({ kind, device }: Pick<Hardware, 'kind' | 'device'>): string[] {
  if (kind !== 'vaapi' || device === null) return [];
  return ['-init_hw_device', `vaapi=va:${device}`, '-filter_hw_device', 'va'];
}

/** Returns the filters at the end of a chain for frames in memory. */
export function uploadFilters(kind: HardwareKind, is10Bit: boolean): string[] {
  if (kind === 'vaapi') return [`format=${is10Bit ? 'p010le' : 'nv12'}`, 'hwupload'];
  return is10Bit ? ['format=p010le'] : [];
}

/**
 * Returns the encoder options for a file. Frames are not reordered, and every forced keyframe is an access
 * point.
 */
export function fileEncoderArgs(kind: HardwareKind, encode: HardwareEncode): string[] {
  const { codec, ceiling } = encode;
  return [
    ...['-c:v', hardwareEncoder(kind, codec), ...profileArgs(kind, encode), ...FILE_ARGS[kind](encode)],
    ...['-maxrate', String(ceiling), '-bufsize', String(ceiling * 2), '-bf', '0'],
    ...(codec === 'HEVC' ? ['-tag:v', 'hvc1'] : []),
  ];
}

type Args = (encode: HardwareEncode) => string[];

const average: Args = ({ ceiling }) => ['-b:v', String(Math.round(ceiling * AVERAGE_SHARE))];

const FILE_ARGS: Readonly<Record<HardwareKind, Args>> = {
  nvenc: ({ codec }) => [
    ...['-preset', 'p5', '-tune', 'hq', '-rc', 'vbr', '-cq', NVENC_QUALITY[codec], '-b:v', '0'],
    ...['-spatial-aq', '1', '-forced-idr', '1'],
  ],
  vaapi: (encode) => ['-rc_mode', 'VBR', ...average(encode)],
  videotoolbox: (encode) => ['-allow_sw', '0', ...average(encode)],
};

/** Returns the profile options. NVENC has none for AV1, and takes the bit depth from the frames. */
function profileArgs(kind: HardwareKind, { codec, is10Bit }: HardwareEncode): string[] {
  if (codec === 'H264') return ['-profile:v', 'high'];
  if (codec === 'HEVC') return ['-profile:v', is10Bit ? 'main10' : 'main'];
  return kind === 'vaapi' ? ['-profile:v', 'main'] : [];
}

/** Options of a rung of a broadcast, without the dashes and `:v`; what all encoders share is not among them. */
export function liveEncoderOptions(kind: HardwareKind, level: string): Readonly<Record<string, string>> {
  return { c: hardwareEncoder(kind, 'H264'), profile: 'main', ...LIVE_OPTIONS[kind](level), bf: '0' };
}

/** By its number, which each of them reads: they spell 3.0 in different ways. */
const levelNumber = (level: string) => String(Math.round(Number(level) * 10));

const LIVE_OPTIONS: Readonly<Record<HardwareKind, (level: string) => Record<string, string>>> = {
  nvenc: (level) => ({
    ...{ level: levelNumber(level), preset: 'p3', tune: 'll', rc: 'vbr' },
    ...{ zerolatency: '1', delay: '0', 'forced-idr': '1' },
  }),
  vaapi: (level) => ({ level: levelNumber(level), rc_mode: 'VBR', async_depth: '1' }),
  // It chooses the level: it does not know all of them.
  videotoolbox: () => ({ allow_sw: '0', realtime: '1' }),
};

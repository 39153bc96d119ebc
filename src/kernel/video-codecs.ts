/** Video codecs. All HLS players support H.264; the others take fewer bytes. */
export const VIDEO_CODECS = ['H264', 'HEVC', 'AV1'] as const;
export type VideoCodec = (typeof VIDEO_CODECS)[number];

/** Interfaces to encoders in hardware, as ffmpeg calls them, in the order in which they are looked for. */
export const HARDWARE_KINDS = ['nvenc', 'vaapi', 'videotoolbox'] as const;
export type HardwareKind = (typeof HARDWARE_KINDS)[number];

/** Configured encoder; `auto` selects the first kind of hardware that works. */
export type EncoderChoice = HardwareKind | 'software' | 'auto';

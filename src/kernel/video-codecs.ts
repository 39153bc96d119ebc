/** Of pictures. Everything that plays HLS plays H.264; the others take fewer bytes. */
export const VIDEO_CODECS = ['H264', 'HEVC', 'AV1'] as const;
export type VideoCodec = (typeof VIDEO_CODECS)[number];

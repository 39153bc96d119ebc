import type { VideoCodec } from '../../kernel/video-codecs.ts';

/**
 * Codecs that may be decoded (docs/decisions/untrusted-media.md#decoders). A key is the codec's name in
 * ffprobe, the value its decoders in the various builds of ffmpeg.
 */

const VIDEO: Readonly<Record<string, readonly string[]>> = {
  h264: ['h264'],
  hevc: ['hevc'],
  av1: ['libdav1d', 'libgav1', 'libaom-av1', 'av1'],
  vp8: ['vp8', 'libvpx'],
  vp9: ['vp9', 'libvpx-vp9'],
  // Cameras, discs and archives.
  mpeg1video: ['mpeg1video'],
  mpeg2video: ['mpeg2video'],
  mpeg4: ['mpeg4'],
  msmpeg4v2: ['msmpeg4v2'],
  msmpeg4v3: ['msmpeg4'],
  wmv1: ['wmv1'],
  wmv2: ['wmv2'],
  wmv3: ['wmv3'],
  vc1: ['vc1'],
  h263: ['h263'],
  flv1: ['flv'],
  vp6: ['vp6'],
  vp6a: ['vp6a'],
  vp6f: ['vp6f'],
  theora: ['theora'],
  dvvideo: ['dvvideo'],
  mjpeg: ['mjpeg'],
  gif: ['gif'],
  // Codecs of video editors.
  prores: ['prores'],
  dnxhd: ['dnxhd'],
  cfhd: ['cfhd'],
  ffv1: ['ffv1'],
  ffvhuff: ['ffvhuff'],
  huffyuv: ['huffyuv'],
  utvideo: ['utvideo'],
  png: ['png'],
  qtrle: ['qtrle'],
  rawvideo: ['rawvideo'],
  v210: ['v210'],
};

const AUDIO: Readonly<Record<string, readonly string[]>> = {
  aac: ['aac', 'libfdk_aac'],
  aac_latm: ['aac_latm'],
  mp3: ['mp3float', 'mp3'],
  mp2: ['mp2', 'mp2float'],
  ac3: ['ac3'],
  eac3: ['eac3'],
  dts: ['dca'],
  truehd: ['truehd'],
  opus: ['opus', 'libopus'],
  vorbis: ['vorbis', 'libvorbis'],
  flac: ['flac'],
  alac: ['alac'],
  wmav1: ['wmav1'],
  wmav2: ['wmav2'],
  wmapro: ['wmapro'],
  amr_nb: ['amrnb', 'libopencore_amrnb'],
  amr_wb: ['amrwb', 'libopencore_amrwb'],
  adpcm_ima_qt: ['adpcm_ima_qt'],
  adpcm_ima_wav: ['adpcm_ima_wav'],
  adpcm_ms: ['adpcm_ms'],
  adpcm_swf: ['adpcm_swf'],
  nellymoser: ['nellymoser'],
  speex: ['speex', 'libspeex'],
  ...Object.fromEntries(
    [
      ...['alaw', 'mulaw', 'u8', 's8', 's16le', 's16be', 's24le', 's24be', 's32le', 's32be'],
      ...['f32le', 'f32be', 'f64le', 'f64be', 'bluray', 'dvd'],
    ].map((kind) => [`pcm_${kind}`, [`pcm_${kind}`]]),
  ),
};

/** That encode in software. */
export const ENCODERS: Readonly<Record<VideoCodec, string>> = {
  H264: 'libx264',
  HEVC: 'libx265',
  AV1: 'libsvtav1',
};

/** Decoders for an uploaded or imported file. */
export const FILE_DECODERS = [...Object.values(VIDEO), ...Object.values(AUDIO)].flat().join(',');

/** Text subtitles, which can be converted to captions. */
const CAPTIONS: Readonly<Record<string, readonly string[]>> = {
  subrip: ['subrip', 'srt'],
  ass: ['ass', 'ssa'],
  mov_text: ['mov_text'],
  webvtt: ['webvtt'],
  text: ['text'],
};

/** Decoders for extracting only captions. */
export const CAPTION_DECODERS = Object.values(CAPTIONS).flat().join(',');

/** Bitmap subtitles, and their common names. */
export const BITMAP_SUBTITLES: Readonly<Record<string, string>> = {
  hdmv_pgs_subtitle: 'PGS',
  dvd_subtitle: 'VobSub',
  dvb_subtitle: 'DVB',
  xsub: 'XSUB',
};

/** Decoders for codecs that an encoder may publish, and for recordings of them. */
export const LIVE_DECODERS = ['h264', 'hevc', 'av1', 'vp9', 'aac', 'opus', 'mp3']
  .flatMap((codec) => VIDEO[codec] ?? AUDIO[codec] ?? [])
  .join(',');

/** Decoder for our own intermediate files between two steps. */
export const INTERMEDIATE_DECODERS = 'h264';

/**
 * Additional decoders for cover art and subtitles: ffprobe opens a decoder for each track, and rejects a file
 * when one is not allowed. They get no data to decode.
 */
export const OPENED_FOR_VIDEO = `${FILE_DECODERS},bmp,libwebp,webp,tiff`;
export const OPENED_FOR_SUBTITLES = [
  ...['ass', 'cc_dec', 'dvbsub', 'dvdsub', 'jacosub', 'libaribb24', 'libaribcaption', 'libzvbi_teletextdec'],
  ...['microdvd', 'mov_text', 'mpl2', 'pgssub', 'pjs', 'realtext', 'sami', 'srt', 'ssa', 'stl', 'subrip'],
  ...['subviewer', 'subviewer1', 'text', 'ttml', 'vplayer', 'webvtt', 'xsub'],
].join(',');

/** @param codec as ffprobe calls it. */
export function isSupportedVideo(codec: string): boolean {
  return Object.hasOwn(VIDEO, codec);
}

/** @param codec as ffprobe calls it. */
export function isSupportedAudio(codec: string): boolean {
  return Object.hasOwn(AUDIO, codec);
}

/** @param codec as ffprobe calls it. */
export function isTextCaption(codec: string): boolean {
  return Object.hasOwn(CAPTIONS, codec);
}

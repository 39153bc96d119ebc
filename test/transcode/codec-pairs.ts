import assert from 'node:assert/strict';
import { test } from 'node:test';
import { make, pictures, testTranscoder, tone } from './sources.ts';

/** Encoders of video and audio, ffprobe's names of their codecs, and a container for both. */
export type CodecPair = [video: string, audio: string, made: [string, string], container: string];

/** Common codecs of creators. */
export const COMMON: CodecPair[] = [
  ['libx264', 'aac', ['h264', 'aac'], 'mp4'],
  ['libx265 -x265-params log-level=none', 'libmp3lame', ['hevc', 'mp3'], 'mp4'],
  ['libsvtav1', 'libopus', ['av1', 'opus'], 'mp4'],
  ['libvpx -deadline realtime', 'libvorbis', ['vp8', 'vorbis'], 'webm'],
  ['libvpx-vp9 -deadline realtime', 'libopus', ['vp9', 'opus'], 'webm'],
  ['mpeg1video', 'mp2', ['mpeg1video', 'mp2'], 'mpg'],
  ['mpeg2video', 'ac3', ['mpeg2video', 'ac3'], 'ts'],
  ['libx264', 'eac3', ['h264', 'eac3'], 'ts'],
  ['libx264', 'aac -f mpegts -mpegts_flags latm', ['h264', 'aac_latm'], 'ts'],
  ['mpeg4', 'adpcm_ima_wav', ['mpeg4', 'adpcm_ima_wav'], 'avi'],
  ['prores_ks -pix_fmt yuv422p10le', 'pcm_s24le', ['prores', 'pcm_s24le'], 'mov'],
];

export const RARE: CodecPair[] = [
  ['msmpeg4v2', 'adpcm_ms', ['msmpeg4v2', 'adpcm_ms'], 'avi'],
  ['msmpeg4', 'libmp3lame', ['msmpeg4v3', 'mp3'], 'avi'],
  ['wmv1', 'wmav1', ['wmv1', 'wmav1'], 'wmv'],
  ['wmv2', 'wmav2', ['wmv2', 'wmav2'], 'wmv'],
  ['h263 -s 176x144', 'aac', ['h263', 'aac'], '3gp'],
  ['flv', 'adpcm_swf -ar 44100', ['flv1', 'adpcm_swf'], 'flv'],
  ['flv', 'nellymoser -ar 22050', ['flv1', 'nellymoser'], 'flv'],
  ['libtheora', 'flac', ['theora', 'flac'], 'ogv'],
  ['dvvideo -s 720x576 -pix_fmt yuv420p', 'pcm_s16le', ['dvvideo', 'pcm_s16le'], 'avi'],
  ['mjpeg -pix_fmt yuvj420p', 'pcm_mulaw', ['mjpeg', 'pcm_mulaw'], 'avi'],
  ['dnxhd -profile:v dnxhr_lb -s 256x144 -pix_fmt yuv422p', 'alac', ['dnxhd', 'alac'], 'mov'],
  ['cfhd -s 256x144 -pix_fmt yuv422p10le', 'pcm_s16be', ['cfhd', 'pcm_s16be'], 'mov'],
  ['ffv1', 'dca -strict -2', ['ffv1', 'dts'], 'mkv'],
  ['ffvhuff', 'truehd -strict -2 -ac 2', ['ffvhuff', 'truehd'], 'mkv'],
  ['huffyuv -pix_fmt yuv422p', 'pcm_f32le', ['huffyuv', 'pcm_f32le'], 'mkv'],
  ['utvideo', 'pcm_alaw', ['utvideo', 'pcm_alaw'], 'avi'],
  ['png', 'pcm_s32be', ['png', 'pcm_s32be'], 'mov'],
  ['qtrle -pix_fmt rgb24', 'adpcm_ima_qt', ['qtrle', 'adpcm_ima_qt'], 'mov'],
  ['rawvideo -pix_fmt uyvy422', 'pcm_s24be', ['rawvideo', 'pcm_s24be'], 'mov'],
  ['v210 -pix_fmt yuv422p10le', 'pcm_f64be', ['v210', 'pcm_f64be'], 'mov'],
];

/** A test for each pair: a file with it is read. */
export function testPairs(pairs: readonly CodecPair[], folder: () => string): void {
  const transcoder = testTranscoder();
  for (const [video, audio, [videoCodec, audioCodec], container] of pairs) {
    test(`codecs: ${videoCodec} with ${audioCodec} in ${container} is read`, async () => {
      const codecs = ['-c:v', ...video.split(' '), '-c:a', ...audio.split(' ')];
      const input = [...pictures('128x96', 25, 0.4), ...tone(0.4), '-shortest'];
      const name = `${videoCodec}-${audioCodec}.${container}`;
      const path = await make(folder(), ...input, '-ac', '1', ...codecs, name);
      const source = await transcoder.probe(path, AbortSignal.timeout(120_000));
      assert.deepEqual([source.video.codec, source.audio[0]?.codec], [videoCodec, audioCodec]);
    });
  }
}

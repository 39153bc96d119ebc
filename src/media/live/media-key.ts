import type { IngestSession } from '../contract/index.ts';

/** A copied rung has one init segment, so a change of any of these needs a new epoch. */
export function mediaKey(session: IngestSession): string {
  const { video, audio } = session;
  return [
    video ? `${video.codec} ${video.width}x${video.height}` : 'no video',
    audio ? `${audio.codec} ${audio.sampleRate} ${audio.channels}` : 'no audio',
  ].join(', ');
}

/** What the words of a stream's health mean to its creator, and what to do. */
const ISSUES: Record<string, string> = {
  KEYFRAME_INTERVAL: 'More than 4 s between keyframes: set the keyframe interval of the encoder to 2 s.',
  NO_KEYFRAMES: 'The encoder sends no keyframes: turn intra refresh off and set a keyframe interval of 2 s.',
  OPEN_GOP: 'The encoder sends open GOPs: turn open GOP off and set a keyframe interval of 2 s.',
  BITRATE_LOW:
    'Too few bits for so large a picture: raise the bitrate of the encoder, or send a smaller picture.',
  BITRATE_UNSTABLE:
    'The signal comes in fits and starts: lower the bitrate, use a cable instead of Wi-Fi, rate control CBR.',
  BITRATE_OVER_PLAN: 'More bits than your plan allows: lower the bitrate, or the encoder is cut off.',
  FRAMES_DROPPED: 'Many frames are missing: lower the resolution, frame rate or bitrate of the encoder.',
  TIMESTAMP_JUMP: 'The clock of the encoder jumped. Restart it if that happens again.',
  AV_DRIFT: 'Sound and picture come apart: use 48 kHz everywhere, and restart the encoder.',
  AUDIO_STOPPED:
    'The encoder sends no audio while video continues: viewers hear silence. Check that the microphone is not muted and that its track is connected.',
  VIDEO_STOPPED:
    'The encoder sends no video while audio continues: viewers see the last keyframe. Check the camera or capture source, and restart the encoder if video does not return.',
  INTERLACED:
    'The video is interlaced and shown as it comes: moving edges look combed. Turn on deinterlacing in the encoder, or send progressive video.',
  B_FRAMES: 'Nobody can watch in real time: set B-frames to 0 in the encoder.',
  TRANSCODE_LAG: 'The platform encodes more slowly than the signal comes. Tell the operator.',
  ENCODERS_OVER_PLAN: 'The encoder was refused: as many are connected as your plan has.',
  DISK_FULL: 'The broadcast is not being recorded: the server has no room. Tell the operator.',
  NO_MEASUREMENT: 'Nothing has been measured for 12 s: look at the connection of the encoder.',
  RESOLUTION_CAPPED: 'Larger than your plan has: the picture is scaled down.',
  FRAME_RATE_CAPPED: 'More than 60 frames a second: the rate is reduced.',
  CODEC_TRANSCODED: 'Not 8-bit H.264: it is encoded anew. Send H.264, profile Main or High.',
  CODEC_NOT_EVERYWHERE:
    'Not H.264 with AAC: viewers whose browser lacks the codec see nothing. Send H.264 and AAC.',
  UNSUPPORTED_CODEC: 'The encoder was cut off: what it sends cannot be read here. Send H.264 and AAC.',
  NO_TRANSCODE_CAPACITY:
    'The encoder was cut off: what it sends would have to be encoded, and there is no room. Send H.264 within your plan.',
  RESOLUTION_CHANGED: 'The encoder was cut off: its picture grew on the way. Start it anew.',
  PACKAGER_FAILED: 'The signal cannot be shown. Restart the encoder.',
  RECORDING_FAILED: 'The broadcast is not being recorded. Tell the operator.',
};

const POLL_MS = 3000;

/** On the page of an owner: a line that says what is wrong with the signal, as long as something is. */
export function showIssues(): void {
  const line = document.querySelector<HTMLElement>('[data-issues-of]');
  if (line === null) return;
  const show = (words: string) => {
    const text = words
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => ISSUES[word] ?? word)
      .join(' ');
    line.hidden = text === '';
    if (line.textContent !== text) line.textContent = text;
  };
  show(line.dataset.issues ?? '');
  setInterval(async () => {
    if (document.hidden) return;
    const answer = await fetch(line.dataset.issuesOf ?? '', { method: 'HEAD', cache: 'no-store' }).catch(
      () => null,
    );
    const words = answer?.headers.get('x-signal-issues') ?? null;
    if (words !== null) show(words);
  }, POLL_MS);
}

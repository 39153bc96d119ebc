/** Explanations and remedies for the codes of a stream's health. */
const ISSUES: Record<string, string> = {
  KEYFRAME_INTERVAL: "More than 4 s between keyframes: set the encoder's keyframe interval to 2 s.",
  NO_KEYFRAMES: 'The encoder sends no keyframes: turn intra refresh off and set a keyframe interval of 2 s.',
  OPEN_GOP: 'The encoder sends open GOPs: turn open GOP off and set a keyframe interval of 2 s.',
  BITRATE_LOW: 'Bitrate too low for the resolution: raise the encoder bitrate or lower the resolution.',
  BITRATE_UNSTABLE:
    'The signal is unstable: lower the bitrate, use a cable instead of Wi-Fi, and set rate control to CBR.',
  BITRATE_OVER_PLAN: 'Bitrate above your plan limit: lower it, or the encoder will be disconnected.',
  FRAMES_DROPPED: 'Many frames are missing: lower the resolution, frame rate or bitrate of the encoder.',
  TIMESTAMP_JUMP: 'The encoder clock jumped. Restart the encoder if this happens again.',
  AV_DRIFT: 'Audio and video are out of sync: use 48 kHz everywhere, and restart the encoder.',
  AUDIO_STOPPED:
    'The encoder sends no audio while video continues: viewers hear silence. Check that the microphone is not muted and that its track is connected.',
  VIDEO_STOPPED:
    'The encoder sends no video while audio continues: viewers see the last keyframe. Check the camera or capture source, and restart the encoder if video does not return.',
  INTERLACED:
    'The video is interlaced and is not deinterlaced: moving edges show combing. Turn on deinterlacing in the encoder, or send progressive video.',
  B_FRAMES: 'Real-time playback is unavailable: set B-frames to 0 in the encoder.',
  TRANSCODE_LAG: 'The platform cannot encode the signal in real time. Contact the operator.',
  ENCODERS_OVER_PLAN: 'The encoder was rejected: the plan limit of concurrent encoders is reached.',
  DISK_FULL: 'The broadcast is not being recorded: the server is out of storage. Contact the operator.',
  NO_MEASUREMENT: 'No measurements for 12 s: check the encoder connection.',
  RESOLUTION_CAPPED: 'Resolution above your plan limit: the video is scaled down.',
  FRAME_RATE_CAPPED: 'More than 60 frames per second: the frame rate is reduced.',
  CODEC_TRANSCODED: 'Not 8-bit H.264: the video is re-encoded. Send H.264, profile Main or High.',
  CODEC_NOT_EVERYWHERE: 'Not H.264 with AAC: browsers without the codec cannot play it. Send H.264 and AAC.',
  UNSUPPORTED_CODEC: 'The encoder was disconnected: its codec is not supported. Send H.264 and AAC.',
  NO_TRANSCODE_CAPACITY:
    'The encoder was disconnected: its signal must be re-encoded, but the server is at capacity. Send H.264 within your plan limits.',
  RESOLUTION_CHANGED:
    'The encoder was disconnected: its resolution increased during the broadcast. Restart the encoder.',
  PACKAGER_FAILED: 'The signal cannot be played. Restart the encoder.',
  RECORDING_FAILED: 'The broadcast is not being recorded. Contact the operator.',
};

const POLL_MS = 3000;

/** Shows the signal's current issues on the page of an owner. */
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

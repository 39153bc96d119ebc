interface HealthMessage {
  meaning: string;
  remedy: string;
}

/**
 * Meaning and remedy of each value of `health.issues` for creators; docs/guides/streams.md#health lists them
 * too.
 */
export const HEALTH_MESSAGES: Readonly<Record<string, HealthMessage>> = {
  KEYFRAME_INTERVAL: {
    meaning: 'More than 4 s between keyframes: new viewers start further behind live.',
    remedy: 'Set the keyframe interval of the encoder to 2 s.',
  },
  NO_KEYFRAMES: {
    meaning:
      'The encoder uses intra refresh instead of keyframes: players cannot start with it, so the video is re-encoded.',
    remedy: 'Turn intra refresh off, and set a keyframe interval of 2 s.',
  },
  OPEN_GOP: {
    meaning:
      'The encoder sends open GOPs (keyframes that are not IDR): players cannot start with them, so the video is re-encoded.',
    remedy: 'Turn open GOP off in the encoder (x264: `open-gop=0`), and set a keyframe interval of 2 s.',
  },
  BITRATE_LOW: {
    meaning: 'The bitrate has been too low for the resolution for 10 s: motion becomes blocky.',
    remedy: 'Raise the encoder bitrate or lower the resolution. Ignore this for still images.',
  },
  BITRATE_UNSTABLE: {
    meaning:
      'In the last 30 s, the signal paused for more than 2 s, or many frames arrived more than a second late.',
    remedy:
      'Lower the bitrate to three quarters of the upload speed, use a cable instead of Wi-Fi, and set rate control to CBR.',
  },
  BITRATE_OVER_PLAN: {
    meaning:
      'The bitrate has exceeded the plan limit for 10 s; after another 10 s the encoder is disconnected. More than 2,000 messages per second disconnect it immediately.',
    remedy: 'Lower the bitrate of the encoder.',
  },
  FRAMES_DROPPED: {
    meaning: 'More than 5% of the frames in the last 30 s are missing.',
    remedy: 'The encoder drops frames: lower its resolution, frame rate or bitrate, or use a faster preset.',
  },
  TIMESTAMP_JUMP: {
    meaning: 'The encoder clock jumped in the last minute, which interrupted playback.',
    remedy: 'Restart the encoder if it happens again, and use one clock for audio and video.',
  },
  AV_DRIFT: {
    meaning: 'Audio and video are out of sync.',
    remedy: 'Use one device for both, or a sample rate of 48 kHz everywhere, then restart the encoder.',
  },
  AUDIO_STOPPED: {
    meaning: 'The encoder sends no audio while video continues: viewers hear silence.',
    remedy: 'Check that the microphone is not muted and that its track is connected.',
  },
  VIDEO_STOPPED: {
    meaning: 'The encoder sends no video while audio continues: viewers see the last keyframe.',
    remedy: 'Check the camera or capture source, and restart the encoder if video does not return.',
  },
  INTERLACED: {
    meaning: 'The video is interlaced and is not deinterlaced: moving edges show combing.',
    remedy: 'Turn on deinterlacing in the encoder, or send progressive video.',
  },
  B_FRAMES: {
    meaning: 'A real-time viewer was rejected because WebRTC does not support B-frames.',
    remedy:
      'Set B-frames to 0 in the encoder (in OBS: "Max B-frames" 0, or Tune "zerolatency"). Nothing to do for HLS.',
  },
  RESOLUTION_CAPPED: {
    meaning: 'The resolution exceeds the plan limit; the video is scaled down.',
    remedy: 'Lower the resolution, or change the plan.',
  },
  FRAME_RATE_CAPPED: {
    meaning: 'More than 60 frames per second; the frame rate is reduced.',
    remedy: 'Send at most 60 frames per second.',
  },
  CODEC_TRANSCODED: {
    meaning: 'The video is not 8-bit 4:2:0 H.264, so it is re-encoded.',
    remedy: 'Send H.264, profile Main or High.',
  },
  CODEC_NOT_EVERYWHERE: {
    meaning:
      'The signal is not H.264 with AAC and is passed through: browsers without the codec cannot play it.',
    remedy: 'Send H.264 and AAC.',
  },
  UNSUPPORTED_CODEC: {
    meaning: 'The codec is not supported; the encoder was disconnected.',
    remedy: 'Send H.264 and AAC.',
  },
  NO_TRANSCODE_CAPACITY: {
    meaning: 'The signal must be re-encoded, but the server is at capacity; the encoder was disconnected.',
    remedy: 'Send H.264 within the plan limits.',
  },
  TRANSCODE_LAG: {
    meaning: 'The platform cannot encode the lower renditions in real time.',
    remedy: 'Contact the operator. A lower resolution or frame rate helps immediately.',
  },
  RESOLUTION_CHANGED: {
    meaning: 'The resolution increased without a new header; the encoder was disconnected.',
    remedy: 'Restart the encoder after changing its resolution.',
  },
  ENCODERS_OVER_PLAN: {
    meaning: 'The plan limit of concurrent encoders is reached; the encoder was rejected.',
    remedy: 'Disconnect another encoder, or change the plan.',
  },
  PACKAGER_FAILED: {
    meaning: 'The signal cannot be segmented; there is no preview.',
    remedy: 'Restart the encoder, and contact the operator.',
  },
  RECORDING_FAILED: {
    meaning: 'Recording failed and is being retried.',
    remedy: 'Contact the operator.',
  },
  DISK_FULL: {
    meaning: 'Recording failed: the server is out of storage.',
    remedy: 'Contact the operator. Recording resumes when storage is available.',
  },
  NO_MEASUREMENT: {
    meaning: 'No measurements for 12 s: the encoder is reconnecting, or its media server is unreachable.',
    remedy: 'Check the encoder connection. Contact the operator if this persists.',
  },
};

/** Returns the message of an issue; a newer media node may send an unknown one. */
export function healthMessage(code: string): HealthMessage {
  return HEALTH_MESSAGES[code] ?? { meaning: code, remedy: 'Contact the operator.' };
}

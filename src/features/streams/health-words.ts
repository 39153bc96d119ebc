interface Words {
  meaning: string;
  remedy: string;
}

/** What each word of `health.issues` means to a creator, and what to do; docs/guides/streams.md#health has them, too. */
export const HEALTH_WORDS: Readonly<Record<string, Words>> = {
  KEYFRAME_INTERVAL: {
    meaning: 'More than 4 s between keyframes: who has just come is further behind.',
    remedy: 'Set the keyframe interval of the encoder to 2 s.',
  },
  NO_KEYFRAMES: {
    meaning: 'The picture is refreshed bit by bit, which players cannot begin with; it is encoded anew.',
    remedy: 'Turn intra refresh off, and set a keyframe interval of 2 s.',
  },
  OPEN_GOP: {
    meaning:
      'The encoder sends open GOPs (keyframes that are not IDR): players cannot start with them, so the video is re-encoded.',
    remedy: 'Turn open GOP off in the encoder (x264: `open-gop=0`), and set a keyframe interval of 2 s.',
  },
  BITRATE_LOW: {
    meaning: 'Too few bits for so large a picture, for 10 s: what moves falls apart.',
    remedy:
      'Raise the bitrate of the encoder, or send a smaller picture. Nothing to do where the picture stands still.',
  },
  BITRATE_UNSTABLE: {
    meaning: 'In the last 30 s nothing came for more than 2 s, or many frames came more than a second late.',
    remedy:
      'Lower the bitrate to three quarters of what the connection uploads, use a cable instead of Wi-Fi, rate control CBR.',
  },
  BITRATE_OVER_PLAN: {
    meaning:
      'More bits a second than the plan allows for 10 s; after 10 s more the publish is ended. More than 2,000 messages a second end it immediately.',
    remedy: 'Lower the bitrate of the encoder.',
  },
  FRAMES_DROPPED: {
    meaning: 'More than 5 % of the frames of the last 30 s are missing.',
    remedy:
      'The encoder leaves them out: lower its resolution, frame rate or bitrate, or use a faster preset.',
  },
  TIMESTAMP_JUMP: {
    meaning: 'The clock of the encoder jumped in the last minute: viewers saw a break.',
    remedy: 'Restart the encoder if it happens again; let it use one clock for sound and picture.',
  },
  AV_DRIFT: {
    meaning: 'Sound and picture come apart.',
    remedy: 'Use one device for both or the same sample rate everywhere (48 kHz), then restart the encoder.',
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
    meaning: 'The video is interlaced and shown as it comes: moving edges look combed.',
    remedy: 'Turn on deinterlacing in the encoder, or send progressive video.',
  },
  B_FRAMES: {
    meaning: 'Somebody wanted to watch in real time and was refused: WebRTC has no place for B-frames.',
    remedy:
      'Set B-frames to 0 in the encoder (in OBS: "Max B-frames" 0, or Tune "zerolatency"). Nothing to do for HLS.',
  },
  RESOLUTION_CAPPED: {
    meaning: 'Larger than the live resolution of the plan; it is scaled down.',
    remedy: 'Send what the plan has, or change the plan.',
  },
  FRAME_RATE_CAPPED: {
    meaning: 'More than 60 frames a second; the rate is reduced.',
    remedy: 'Send 60 frames a second or fewer.',
  },
  CODEC_TRANSCODED: {
    meaning: 'No 8-bit 4:2:0 H.264; it is encoded anew.',
    remedy: 'Send H.264, profile Main or High.',
  },
  CODEC_NOT_EVERYWHERE: {
    meaning: 'No H.264 with AAC, shown as it comes: viewers whose browser lacks the codec see nothing.',
    remedy: 'Send H.264 and AAC.',
  },
  UNSUPPORTED_CODEC: {
    meaning: 'What was sent cannot be read here; the publish was ended.',
    remedy: 'Send H.264 and AAC.',
  },
  NO_TRANSCODE_CAPACITY: {
    meaning: 'It would have to be encoded, and the machine has no room; the publish was ended.',
    remedy: 'Send H.264 within the plan.',
  },
  TRANSCODE_LAG: {
    meaning: 'The platform encodes the smaller pictures more slowly than the signal comes.',
    remedy: 'Tell the operator; a smaller picture or fewer frames a second help at once.',
  },
  RESOLUTION_CHANGED: {
    meaning: 'The picture grew without a new header; the publish was ended.',
    remedy: 'Restart the encoder after a change of its resolution.',
  },
  ENCODERS_OVER_PLAN: {
    meaning: 'As many encoders are connected as the plan has; the publish was refused.',
    remedy: 'End another signal, or change the plan.',
  },
  PACKAGER_FAILED: {
    meaning: 'The signal cannot be made into segments; there is no preview.',
    remedy: 'Restart the encoder; tell the operator.',
  },
  RECORDING_FAILED: {
    meaning: 'It is to be recorded and is not; it is tried again and again.',
    remedy: 'Tell the operator.',
  },
  DISK_FULL: {
    meaning: 'It is not recorded: the server has no room.',
    remedy: 'Tell the operator; it goes on when there is room.',
  },
  NO_MEASUREMENT: {
    meaning:
      'Nothing was measured for 12 s: the encoder is coming back, or its media server is out of reach.',
    remedy: 'Look at the connection of the encoder; tell the operator if it stays.',
  },
};

/** Of a word that a later version of a media node may have as well. */
export function healthWords(code: string): Words {
  return HEALTH_WORDS[code] ?? { meaning: code, remedy: 'Tell the operator.' };
}

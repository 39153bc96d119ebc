import { test } from 'node:test';
import { lackOfRecordedLivekit } from './livekit.ts';
import { tryRecording } from './recorded-room.ts';

const skip = (await lackOfRecordedLivekit()) ?? false;

test('current and later participants are recorded with LiveKit as the room engine', { skip }, (t) =>
  tryRecording(t, 'livekit'),
);

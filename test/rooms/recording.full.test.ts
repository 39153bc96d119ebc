import { test } from 'node:test';
import { lackOfRecordedLivekit } from './livekit.ts';
import { tryRecording } from './recorded-room.ts';

const skip = (await lackOfRecordedLivekit()) ?? false;

test('who is there and who comes later are recorded where LiveKit carries the room', { skip }, (t) =>
  tryRecording(t, 'livekit'),
);

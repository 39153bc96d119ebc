import { test } from 'node:test';
import { janusUnavailableReason } from '../../src/media/rooms/janus/process.ts';
import { tryRecording } from './recorded-room.ts';

const skip = (await janusUnavailableReason('janus')) ?? false;

test('current and later participants are recorded across a restart of the recorder', { skip }, (t) =>
  tryRecording(t, 'janus'),
);

import { test } from 'node:test';
import { janusUnavailableReason } from '../../src/media/rooms/janus/process.ts';
import { tryRecording } from './recorded-room.ts';

const skip = (await janusUnavailableReason('janus')) ?? false;

test('who is there and who comes later are recorded, over a recorder that begins anew', { skip }, (t) =>
  tryRecording(t, 'janus'),
);

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../platform/logger.ts';
import { openFfmpeg } from '../ffmpeg/program.ts';
import { RoomCamera } from './room-camera.ts';

const [SMALL, LARGE] = [0, 2];
const FRAME_MS = 40;

/** Builds one packet with a complete VP8 frame (RFC 7741, section 4.2). */
function packet(number: number, isKey: boolean): Buffer {
  const head = Buffer.alloc(13);
  head.set([0x80, 0xe0]);
  head.writeUInt16BE(number, 2);
  head.writeUInt32BE(number * FRAME_MS * 90, 4);
  head.writeUInt8(0x10, 12);
  return Buffer.concat([head, Buffer.from(isKey ? '1000009d012a4001b400' : '31000000', 'hex')]);
}

const openedFfmpeg = await openFfmpeg('ffmpeg');

function openCamera(ffmpeg = openedFfmpeg) {
  let asked = 0;
  const again = () => {
    asked += 1;
  };
  const camera = new RoomCamera({
    ...{ ffmpeg, log: createLogger('silent', { process: 'test' }) },
    ...{ again, isScreen: false },
  });
  return { camera, asked: () => asked };
}

test('a smaller layer replaces one that is no longer sent, starting from a requested keyframe', () => {
  const { camera, asked } = openCamera();
  for (let index = 0; index < 10; index += 1) {
    for (const layer of [SMALL, LARGE]) camera.packet(packet(index, index === 0), layer, index * FRAME_MS);
  }
  assert.equal(asked(), 0);
  // The large layer is shown: the small one has sent no keyframe to start from.
  let index = 10;
  for (; asked() === 0 && index < 200; index += 1)
    camera.packet(packet(index, false), SMALL, index * FRAME_MS);
  assert.ok(index * FRAME_MS < 2000, `asked for after ${index * FRAME_MS} ms`);
  // The keyframe is lost, and comes only after the camera counts as off.
  for (; index < 150; index += 1) camera.packet(packet(index, false), SMALL, index * FRAME_MS);
  assert.equal(camera.isOn(index * FRAME_MS), false);
  assert.ok(asked() >= 3, `asked for ${asked()} times`);
  camera.packet(packet(index, true), SMALL, index * FRAME_MS);
  assert.equal(camera.isOn(index * FRAME_MS), true);
});

test('a screen that was static for a long time is not asked for a keyframe', () => {
  const { camera, asked } = openCamera();
  camera.packet(packet(0, true), SMALL, 0);
  camera.packet(packet(1, false), SMALL, 9000);
  const begin = packet(2, false);
  begin.writeUInt8(0x60, 1);
  camera.packet(begin, SMALL, 18_000);
  assert.equal(asked(), 0);
});

test('a shape that changes with each frame starts at most one decoder a second', async () => {
  let started = 0;
  const start: typeof openedFfmpeg.guard.start = (...given) => {
    started += 1;
    return openedFfmpeg.guard.start(...given);
  };
  const { camera } = openCamera({ ...openedFfmpeg, guard: { ...openedFfmpeg.guard, start } });
  camera.show({ x: 0, y: 0, width: 64, height: 36, isWhole: true });
  for (let index = 0; index < 30; index += 1) {
    const turned = packet(index, true);
    if (index % 2 === 0) turned.writeUInt16LE(90, 13 + 6);
    camera.packet(turned, LARGE, index * FRAME_MS);
  }
  await camera.stop();
  assert.equal(started, 2, 'of 1.2 seconds');
});

import type { Box, FrameSize } from '../rooms/compose/layout.ts';

/** Frame in the pixels of `yuv420p`: luma, then two chroma planes at half the size. */
export interface Frame extends FrameSize {
  pixels: Buffer;
}

export function bytesOf({ width, height }: FrameSize): number {
  return (width * height * 3) / 2;
}

/** Frame and its position. */
export interface PositionedFrame {
  frame: Frame;
  at: Box;
}

/** Draws frames over a still background into memory of the caller. */
export function composeFrame(into: Frame, still: Buffer, pictures: readonly PositionedFrame[]): void {
  still.copy(into.pixels);
  for (const { frame, at } of pictures) {
    const box = clipped(at, into);
    if (box.width === frame.width && box.height === frame.height) copyInto(into, frame, box);
    else stretchInto(into, frame, box);
  }
}

/** Returns the planes of a frame: their offset, stride, and subsampling factor. */
function planesOf({ width, height }: FrameSize) {
  const luma = width * height;
  return [
    { start: 0, stride: width, by: 1 },
    { start: luma, stride: width / 2, by: 2 },
    { start: luma + luma / 4, stride: width / 2, by: 2 },
  ];
}

function clipped(box: Box, { width, height }: FrameSize): Box {
  return {
    x: box.x,
    y: box.y,
    width: Math.min(box.width, width - box.x),
    height: Math.min(box.height, height - box.y),
  };
}

function copyInto(into: Frame, frame: Frame, box: Box): void {
  const targets = planesOf(into);
  for (const [index, from] of planesOf(frame).entries()) {
    const to = targets[index];
    if (to === undefined) continue;
    const [rows, bytes] = [box.height / to.by, box.width / to.by];
    for (let row = 0; row < rows; row += 1) {
      const start = from.start + row * from.stride;
      const at = to.start + (box.y / to.by + row) * to.stride + box.x / to.by;
      frame.pixels.copy(into.pixels, at, start, start + bytes);
    }
  }
}

/** Scales without smoothing: the result is shown only until a frame of the new size arrives. */
function stretchInto(into: Frame, frame: Frame, box: Box): void {
  const targets = planesOf(into);
  for (const [index, from] of planesOf(frame).entries()) {
    const to = targets[index];
    if (to === undefined) continue;
    const [rows, columns] = [box.height / to.by, box.width / to.by];
    const [stepX, stepY] = [frame.width / from.by / columns, frame.height / from.by / rows];
    for (let row = 0; row < rows; row += 1) {
      const source = from.start + Math.floor(row * stepY) * from.stride;
      const at = to.start + (box.y / to.by + row) * to.stride + box.x / to.by;
      for (let column = 0; column < columns; column += 1) {
        into.pixels[at + column] = frame.pixels[source + Math.floor(column * stepX)] ?? 0;
      }
    }
  }
}

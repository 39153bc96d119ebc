import { openFfmpeg } from '../../src/media/ffmpeg/program.ts';

/** The ffmpeg of the PATH, inspected once for all tests of a file. */
export const testFfmpeg = await openFfmpeg('ffmpeg');

/** Capabilities of the oldest supported version. */
export const OLD_ABILITIES = { enhancedFlv: false, enhancedFlv2: false };

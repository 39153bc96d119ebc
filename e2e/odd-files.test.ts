import { ODD_FILES } from '../test/playback/odd-files.ts';
import { testPlayback } from '../test/playback/odd-playback.ts';

/** One file for each rule; odd-files.full.test.ts plays all of them. */
const REPRESENTATIVE = [
  'shape-changes-once.webm',
  'audio-layout-changes.ts',
  'audio-ends-early.mp4',
  'untagged-709.mp4',
];

testPlayback(ODD_FILES.filter(({ name }) => REPRESENTATIVE.includes(name)));

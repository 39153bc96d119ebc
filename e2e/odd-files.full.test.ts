import { testPlayback } from '../test/playback/odd-playback.ts';

testPlayback();

import { combinations } from '../../../test/transcode/generated-sources.ts';
import { testProperties } from '../../../test/transcode/properties.ts';

/** Enough for each value of each property; the full form has more combinations. */
const COUNT = 12;

testProperties(combinations(COUNT));

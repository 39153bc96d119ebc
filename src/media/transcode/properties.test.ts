import { combinations } from '../../../test/transcode/generated-sources.ts';
import { testProperties } from '../../../test/transcode/properties.ts';

/** The full form has all others. */
const COUNT = 20;

testProperties(combinations(COUNT));

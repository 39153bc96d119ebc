import { combinations } from '../../../test/transcode/generated-sources.ts';
import { testProperties } from '../../../test/transcode/properties.ts';

const COUNT = 240;

testProperties(combinations(COUNT));

import { assertAccessibleInLight } from '../harness/dashboard.ts';
import { testEveryRoute } from './every-route.ts';

// The long form looks at the dark scheme as well.
testEveryRoute(assertAccessibleInLight);

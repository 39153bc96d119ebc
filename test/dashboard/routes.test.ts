import { assertAccessibleInLight } from '../harness/dashboard.ts';
import { testEveryRoute } from './every-route.ts';

// The long form also checks the dark scheme.
testEveryRoute(assertAccessibleInLight);

import { assertGoodLooks } from '../harness/dashboard.ts';
import { testEveryRoute } from './every-route.ts';

testEveryRoute(assertGoodLooks);

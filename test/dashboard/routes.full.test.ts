import { assertAccessibleInBothSchemes } from '../harness/dashboard.ts';
import { testEveryRoute } from './every-route.ts';

testEveryRoute(assertAccessibleInBothSchemes);

/** `npm run check`: the static checks alone. */
import { runSteps, staticSteps } from './steps.ts';

process.exit(await runSteps(staticSteps()));

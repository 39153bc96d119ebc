/** `npm run check`: runs only the static checks. */
import { runSteps, staticSteps } from './steps.ts';

process.exit(await runSteps(staticSteps()));

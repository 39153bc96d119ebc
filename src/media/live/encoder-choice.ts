import type { Logger } from '../../platform/logger.ts';
import type { Hardware } from '../ffmpeg/hardware.ts';
import { encodesInHardware, type LadderPlan, toSoftwarePlan } from './ladder.ts';

export interface EncoderChoiceOptions {
  plan: LadderPlan;
  /** Hardware that the plan uses; null when it uses none. */
  hardware: Hardware | null;
  log: Logger;
  /** Called once, when it switches to software. */
  onSoftware?: (() => void) | undefined;
}

/**
 * Encoder of a publish: the hardware until a run with it ends by itself, for any reason, and then software.
 */
export class EncoderChoice {
  readonly #options: EncoderChoiceOptions;
  #plan: LadderPlan;

  constructor(options: EncoderChoiceOptions) {
    this.#options = options;
    this.#plan = options.plan;
  }

  plan(): LadderPlan {
    return this.#plan;
  }

  /** Returns the hardware; null when the plan does not use it. */
  hardware(): Hardware | null {
    return this.#plan.rungs.some(encodesInHardware) ? this.#options.hardware : null;
  }

  /** Records that a run has ended by itself. @returns whether the next one uses another encoder. */
  failed(): boolean {
    const { log, onSoftware } = this.#options;
    const left = this.hardware();
    if (left === null) return false;
    log.warn({ encoder: left.kind }, 'a hardware live encode ended: continuing in software');
    this.#plan = toSoftwarePlan(this.#plan);
    onSoftware?.();
    return true;
  }
}

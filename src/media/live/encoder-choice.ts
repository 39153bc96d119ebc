import type { Logger } from '../../platform/logger.ts';
import type { Hardware } from '../ffmpeg/hardware.ts';
import { encodesInHardware, type LadderPlan, toSoftwarePlan } from './ladder.ts';

export interface EncoderChoiceOptions {
  plan: LadderPlan;
  /** What the plan counts on; null where it counts on none. */
  hardware: Hardware | null;
  log: Logger;
  /** Called once, when it leaves the hardware. */
  onSoftware?: (() => void) | undefined;
}

/** What a publish is encoded by: the hardware until a run with it ends by itself, for whatever reason, and then the software. */
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

  /** null when the plan has nothing for it. */
  hardware(): Hardware | null {
    return this.#plan.rungs.some(encodesInHardware) ? this.#options.hardware : null;
  }

  /** A run has ended by itself. @returns whether the next one encodes otherwise. */
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

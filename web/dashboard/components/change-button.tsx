import { Button, type ButtonProps } from '@mantine/core';
import type { ComponentPropsWithoutRef, ReactNode } from 'react';
import { type Changing, useMayChange } from '../app/rights.ts';

interface ChangesProps {
  /** Where it is not what the area changes. */
  of?: Changing;
  children: ReactNode;
}

/** What only those see whose role lets them change it. */
export function Changes({ of, children }: ChangesProps) {
  return useMayChange(of) ? children : null;
}

type Props = ButtonProps & Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps> & { of?: Changing };

/** A button that changes something. */
export function ChangeButton({ of, ...button }: Props) {
  return (
    <Changes {...(of === undefined ? {} : { of })}>
      <Button {...button} />
    </Changes>
  );
}

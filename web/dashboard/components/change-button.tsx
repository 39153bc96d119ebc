import { Button, type ButtonProps } from '@mantine/core';
import type { ComponentPropsWithoutRef, ReactNode } from 'react';
import { type Changing, useCanEdit } from '../app/permissions.ts';

interface ChangesProps {
  /** Where it is not what the area changes. */
  of?: Changing;
  children: ReactNode;
}

/** What only those see whose role lets them change it. */
export function EditorsOnly({ of, children }: ChangesProps) {
  return useCanEdit(of) ? children : null;
}

type Props = ButtonProps & Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps> & { of?: Changing };

/** A button that changes something. */
export function EditButton({ of, ...button }: Props) {
  return (
    <EditorsOnly {...(of === undefined ? {} : { of })}>
      <Button {...button} />
    </EditorsOnly>
  );
}

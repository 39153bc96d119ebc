import { Button, type ButtonProps } from '@mantine/core';
import type { ComponentPropsWithoutRef, ReactNode } from 'react';
import { type ChangeKind, useCanEdit } from '../app/permissions.ts';

interface ChangesProps {
  /** Kind of data, if it differs from that of the area. */
  of?: ChangeKind;
  children: ReactNode;
}

/** Renders its children only for users whose role may change the data. */
export function EditorsOnly({ of, children }: ChangesProps) {
  return useCanEdit(of) ? children : null;
}

type Props = ButtonProps & Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps> & { of?: ChangeKind };

/** Button that changes data; hidden from users who may not. */
export function EditButton({ of, ...button }: Props) {
  return (
    <EditorsOnly {...(of === undefined ? {} : { of })}>
      <Button {...button} />
    </EditorsOnly>
  );
}

import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type ChangeKind, useCanEdit } from '../app/permissions.ts';

interface Props extends ButtonProps {
  /** Label of the button, and of the one that confirms. */
  label: string;
  title: string;
  /** Consequence of the action: "The old secret stops working immediately." */
  text: ReactNode;
  /**
   * The dialog closes when the promise resolves. When it rejects, a toast shows the error and the dialog
   * stays open.
   */
  onConfirm: () => Promise<unknown>;
  isPending?: boolean;
  /** Kind of data, if it differs from that of the area. */
  of?: ChangeKind;
}

/** Button for an action that cannot be undone or is public: it asks for confirmation. */
export function ConfirmAction({ label, title, text, onConfirm, isPending = false, of, ...button }: Props) {
  const { t } = useTranslation();
  const [isOpen, dialog] = useDisclosure();
  if (!useCanEdit(of)) return null;
  return (
    <>
      <Button color="red" variant="light" {...button} onClick={dialog.open}>
        {label}
      </Button>
      <Modal
        opened={isOpen}
        onClose={dialog.close}
        title={title}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Stack>
          <Text component="div">{text}</Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={dialog.close} data-autofocus>
              {t('cancel')}
            </Button>
            <Button
              color="red"
              loading={isPending}
              onClick={() => void onConfirm().then(dialog.close, () => {})}
            >
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

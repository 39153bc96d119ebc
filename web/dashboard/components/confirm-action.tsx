import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type Changing, useCanEdit } from '../app/permissions.ts';

interface Props extends ButtonProps {
  /** The words of the button, and of the one that confirms. */
  label: string;
  title: string;
  /** What is lost, or who sees it: "The old secret stops at once." */
  text: ReactNode;
  /** The dialog closes when it resolves; when it fails, the toast says why and the dialog stays. */
  onConfirm: () => Promise<unknown>;
  isPending?: boolean;
  /** Where it is not what the area changes. */
  of?: Changing;
}

/** A button for what cannot be taken back or is seen by the public: it asks before. */
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

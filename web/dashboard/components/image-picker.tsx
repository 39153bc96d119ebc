import { FileButton, Text } from '@mantine/core';
import { EditButton } from './change-button.tsx';
import { ConfirmAction } from './confirm-action.tsx';

interface Props {
  word: (name: 'choose' | 'remove' | 'removeTitle' | 'removeText' | 'hint') => string;
  /** There is one, which can be removed. */
  hasPicture: boolean;
  put: { mutate: (file: File) => void; isPending: boolean };
  remove: { isPending: boolean };
  onRemove: () => Promise<unknown>;
}

/** Chooses an image to upload, and removes the current one. */
export function ImagePicker({ word, hasPicture, put, remove, onRemove }: Props) {
  return (
    <>
      <FileButton
        accept="image/png,image/jpeg,image/webp"
        onChange={(file) => {
          if (file !== null) put.mutate(file);
        }}
      >
        {(props) => (
          <EditButton {...props} of="settings" variant="default" loading={put.isPending}>
            {word('choose')}
          </EditButton>
        )}
      </FileButton>
      {hasPicture && (
        <ConfirmAction
          of="settings"
          label={word('remove')}
          title={word('removeTitle')}
          text={word('removeText')}
          onConfirm={onRemove}
          isPending={remove.isPending}
        />
      )}
      <Text size="sm" c="dimmed">
        {word('hint')}
      </Text>
    </>
  );
}

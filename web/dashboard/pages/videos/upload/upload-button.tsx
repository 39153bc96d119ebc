import './upload.css';
import { FileButton } from '@mantine/core';
import { type DragEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCanEdit } from '../../../app/permissions.ts';
import { EditButton } from '../../../components/change-button.tsx';
import { addFiles } from './queue.ts';

/** File types that the file picker offers first. */
export const VIDEO_FILES = 'video/*,audio/*,image/gif,image/webp,.mkv,.mts,.mxf,.ts';

/** Chooses files; each one immediately becomes a draft in the upload queue. */
export function UploadButton() {
  const { t } = useTranslation('videos');
  return (
    <FileButton multiple accept={VIDEO_FILES} onChange={(files) => addFiles(files)}>
      {(props) => <EditButton {...props}>{t('upload.choose')}</EditButton>}
    </FileButton>
  );
}

/** Takes files that are dropped anywhere on the page. */
export function UploadDrop({ children }: { children: ReactNode }) {
  const { t } = useTranslation('videos');
  const [isOver, setOver] = useState(false);
  const mayChange = useCanEdit();
  const hasFiles = ({ dataTransfer }: DragEvent) => mayChange && dataTransfer.types.includes('Files');
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the adjacent button has the same function for keyboards.
    <div
      className="upload-drop"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (event.currentTarget === event.target) setOver(false);
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(false);
        addFiles([...event.dataTransfer.files]);
      }}
    >
      {children}
      {isOver && <p className="upload-here">{t('upload.drop')}</p>}
    </div>
  );
}

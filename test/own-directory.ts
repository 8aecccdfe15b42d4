import { closeAfterwards } from './closing.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** The path of an empty folder, removed after the requesting test or file. */
export async function ownDirectory(): Promise<string> {
  const { path, remove } = await temporaryDirectory()
  closeAfterwards(remove)
  return path
}

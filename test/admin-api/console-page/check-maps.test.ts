import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { warnOfMaps } from '../../../admin-api/console-page/check-maps.ts'
import { pmtiles } from '../../../console/world/pmtiles.ts'
import { loadConfig } from '../../../runtime/config/config.ts'
import { ownDirectory } from '../../own-directory.ts'

const WHOLE = pmtiles({
  tiles: [{ z: 0, x: 0, y: 0, data: Buffer.from('a tile') }],
  minZoom: 0,
  maxZoom: 0,
  bounds: [-180, -85, 180, 85],
  metadata: {},
})
const withVersion = (version: number) => {
  const file = Buffer.from(WHOLE)
  file.writeUInt8(version, 7)
  return file
}
const V2 = Buffer.concat([Buffer.from('PM\u0002\u0000', 'latin1'), Buffer.alloc(600)])

test.each<[string, Buffer | string | undefined, string]>([
  ['missing', undefined, 'there is no such file'],
  ['empty', '', 'it is empty'],
  ['a web page', '<html>not found</html>', 'it is not a PMTiles file'],
  ['an image', Buffer.from('89504e470d0a1a0a', 'hex'), 'it is not a PMTiles file'],
  ['MBTiles', 'SQLite format 3\0…', 'it is an MBTiles file: convert it with pmtiles convert'],
  ['of version 2', V2, 'it has version 2 of PMTiles: convert it to version 3 with pmtiles convert'],
  [
    'of version 4',
    withVersion(4),
    'it has version 4 of PMTiles: convert it to version 3 with pmtiles convert',
  ],
  ['half copied', WHOLE.subarray(0, -5), 'it is truncated: copy it again'],
  ['a header alone', WHOLE.subarray(0, 40), 'it is truncated: copy it again'],
])(
  'a map file that is %s gets one warning with its name and the reason',
  async (_what, content, reason) => {
    const directory = await ownDirectory()
    const [whole, file] = [join(directory, 'whole.pmtiles'), join(directory, 'town.pmtiles')]
    writeFileSync(whole, WHOLE)
    if (content !== undefined) writeFileSync(file, content)
    const { maps } = loadConfig({
      MAP_PMTILES: `${whole} Town=${file} https://maps.example/w.pmtiles`,
    })
    const warned: unknown[] = []
    await warnOfMaps(maps, { warn: (...line) => warned.push(line) })
    expect(warned).toEqual([
      [{ map: 'Town', file, reason }, 'a map of MAP_PMTILES cannot be shown'],
    ])
  },
)

test('a folder is not a map, nor is a file below a file', async () => {
  const directory = await ownDirectory()
  mkdirSync(join(directory, 'maps'))
  writeFileSync(join(directory, 'file'), 'x')
  const places = ['maps', 'file/town.pmtiles'].map((place) => join(directory, place))
  const reasons: unknown[] = []
  await warnOfMaps(loadConfig({ MAP_PMTILES: places.join(' ') }).maps, {
    warn: (fields) => reasons.push((fields as { reason: string }).reason),
  })
  expect(reasons).toEqual(['it is not a file', 'it cannot be read (ENOTDIR)'])
})

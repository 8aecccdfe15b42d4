declare module 'vt-pbf' {
  const vtPbf: {
    fromGeojsonVt(
      layers: Readonly<Record<string, object>>,
      options: { readonly version: number; readonly extent: number },
    ): Uint8Array
  }
  export default vtPbf
}

package roselle.tokenizer.unicode;

import java.lang.Character.UnicodeScript;
import java.util.Optional;

/**
 * Scripts as Hugging Face's UnicodeScripts tells them apart: those of Unicode 8, without what was assigned later.
 *
 * <p>The JDK knows more; a test compares every code point with the library. The list is printed by
 * tools/tokenizers/scripts.py.
 */
public final class ReferenceScripts {
    private static final CodePointSet WITH_SCRIPT = CodePointSet.parse("""
            0-1f 21-377 37a-37f 384-38a 38c 38e-3a1 3a3-52f 531-556 559-55f 561-587 589-58a 58d-58f
            591-5c7 5d0-5ea 5f0-5f4 600-61c 61e-70d 70f-74a 74d-7b1 7c0-7fa 800-82d 830-83e 840-85b 85e
            8a0-8b4 8b6-8bd 8d4-983 985-98c 98f-990 993-9a8 9aa-9b0 9b2 9b6-9b9 9bc-9c4 9c7-9c8 9cb-9ce
            9d7 9dc-9dd 9df-9e3 9e6-9fb a01-a03 a05-a0a a0f-a10 a13-a28 a2a-a30 a32-a33 a35-a36 a38-a39
            a3c a3e-a42 a47-a48 a4b-a4d a51 a59-a5c a5e a66-a75 a81-a83 a85-a8d a8f-a91 a93-aa8 aaa-ab0
            ab2-ab3 ab5-ab9 abc-ac5 ac7-ac9 acb-acd ad0 ae0-ae3 ae6-af1 af9 b01-b03 b05-b0c b0f-b10
            b13-b28 b2a-b30 b32-b33 b35-b39 b3c-b44 b47-b48 b4b-b4d b56-b57 b5c-b5d b5f-b63 b66-b77
            b82-b83 b85-b8a b8e-b90 b92-b95 b99-b9a b9c b9e-b9f ba3-ba4 ba8-baa bae-bb9 bbe-bc2 bc6-bc8
            bca-bcd bd0 bd7 be6-bfa c00-c03 c05-c0c c0e-c10 c12-c28 c2a-c39 c3d-c44 c46-c48 c4a-c4d
            c55-c56 c58-c5a c60-c63 c66-c6f c78-c83 c85-c8c c8e-c90 c92-ca8 caa-cb3 cb5-cb9 cbc-cc4
            cc6-cc8 cca-ccd cd5-cd6 cde ce0-ce3 ce6-cef cf1-cf2 d01-d03 d05-d0c d0e-d10 d12-d3a d3d-d44
            d46-d48 d4a-d4f d54-d63 d66-d7f d82-d83 d85-d96 d9a-db1 db3-dbb dbd dc0-dc6 dca dcf-dd4 dd6
            dd8-ddf de6-def df2-df4 e01-e3a e3f-e5b e81-e82 e84 e87-e88 e8a e8d e94-e97 e99-e9f ea1-ea3
            ea5 ea7 eaa-eab ead-eb9 ebb-ebd ec0-ec4 ec6 ec8-ecd ed0-ed9 edc-edf f00-f47 f49-f6c f71-f97
            f99-fbc fbe-fcc fce-fda 1000-10c5 10c7 10cd 10d0-1248 124a-124d 1250-1256 1258 125a-125d
            1260-1288 128a-128d 1290-12b0 12b2-12b5 12b8-12be 12c0 12c2-12c5 12c8-12d6 12d8-1310
            1312-1315 1318-135a 135d-137c 1380-1399 13a0-13f5 13f8-13fd 1400-169c 16a0-16f8 1700-170c
            170e-1714 1720-1736 1740-1753 1760-176c 176e-1770 1772-1773 1780-17dd 17e0-17e9 17f0-17f9
            1800-180e 1810-1819 1820-1877 1880-18aa 18b0-18f5 1900-191e 1920-192b 1930-193b 1940
            1944-196d 1970-1974 1980-19ab 19b0-19c9 19d0-19da 19de-1a1b 1a1e-1a5e 1a60-1a7c 1a7f-1a89
            1a90-1a99 1aa0-1aad 1ab0-1abe 1b00-1b4b 1b50-1b7c 1b80-1bf3 1bfc-1c37 1c3b-1c49 1c4d-1c88
            1cc0-1cc7 1cd0-1cf6 1cf8-1cf9 1d00-1df5 1dfb-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57
            1f59 1f5b 1f5d 1f5f-1f7d 1f80-1fb4 1fb6-1fc4 1fc6-1fd3 1fd6-1fdb 1fdd-1fef 1ff2-1ff4
            1ff6-1ffe 2000-2064 2066-2071 2074-208e 2090-209c 20a0-20be 20d0-20f0 2100-218b 2190-23fe
            2400-2426 2440-244a 2460-2b73 2b76-2b95 2b98-2bb9 2bbd-2bc8 2bca-2bd1 2bec-2bef 2c00-2c2e
            2c30-2c5e 2c60-2cf3 2cf9-2d25 2d27 2d2d 2d30-2d67 2d6f-2d70 2d7f-2d96 2da0-2da6 2da8-2dae
            2db0-2db6 2db8-2dbe 2dc0-2dc6 2dc8-2dce 2dd0-2dd6 2dd8-2dde 2de0-2e44 2e80-2e99 2e9b-2ef3
            2f00-2fd5 2ff0-2ffb 3000-303f 3041-3096 3099-30ff 3105-312d 3131-318e 3190-31ba 31c0-31e3
            31f0-321e 3220-32fe 3300-4db5 4dc0-9fd5 a000-a48c a490-a4c6 a4d0-a62b a640-a6f7 a700-a7ae
            a7b0-a7b7 a7f7-a82b a830-a839 a840-a877 a880-a8c5 a8ce-a8d9 a8e0-a8fd a900-a953 a95f-a97c
            a980-a9cd a9cf-a9d9 a9de-a9fe aa00-aa36 aa40-aa4d aa50-aa59 aa5c-aac2 aadb-aaf6 ab01-ab06
            ab09-ab0e ab11-ab16 ab20-ab26 ab28-ab2e ab30-ab65 ab70-abed abf0-abf9 ac00-d7a3 d7b0-d7c6
            d7cb-d7fb f900-fa6d fa70-fad9 fb00-fb06 fb13-fb17 fb1d-fb36 fb38-fb3c fb3e fb40-fb41
            fb43-fb44 fb46-fbc1 fbd3-fd3f fd50-fd8f fd92-fdc7 fdf0-fdfd fe00-fe19 fe20-fe52 fe54-fe66
            fe68-fe6b fe70-fe74 fe76-fefc feff ff01-ffbe ffc2-ffc7 ffca-ffcf ffd2-ffd7 ffda-ffdc
            ffe0-ffe6 ffe8-ffee fff9-fffd 10000-1000b 1000d-10026 10028-1003a 1003c-1003d 1003f-1004d
            10050-1005d 10080-100fa 10100-10102 10107-10133 10137-1018e 10190-1019b 101a0 101d0-101fd
            10280-1029c 102a0-102d0 102e0-102fb 10300-10323 10330-1034a 10350-1037a 10380-1039d
            1039f-103c3 103c8-103d5 10400-1049d 104a0-104a9 104b0-104d3 104d8-104fb 10500-10527
            10530-10563 1056f 10600-10736 10740-10755 10760-10767 10800-10805 10808 1080a-10835
            10837-10838 1083c 1083f-10855 10857-1089e 108a7-108af 108e0-108f2 108f4-108f5 108fb-1091b
            1091f-10939 1093f 10980-109b7 109bc-109cf 109d2-10a03 10a05-10a06 10a0c-10a13 10a15-10a17
            10a19-10a33 10a38-10a3a 10a3f-10a47 10a50-10a58 10a60-10a9f 10ac0-10ae6 10aeb-10af6
            10b00-10b35 10b39-10b55 10b58-10b72 10b78-10b91 10b99-10b9c 10ba9-10baf 10c00-10c48
            10c80-10cb2 10cc0-10cf2 10cfa-10cff 10e60-10e7e 11000-1104d 11052-1106f 1107f-110c1
            110d0-110e8 110f0-110f9 11100-11134 11136-11143 11150-11176 11180-111cd 111d0-111df
            111e1-111f4 11200-11211 11213-1123e 11280-11286 11288 1128a-1128d 1128f-1129d 1129f-112a9
            112b0-112ea 112f0-112f9 11300-11303 11305-1130c 1130f-11310 11313-11328 1132a-11330
            11332-11333 11335-11339 1133c-11344 11347-11348 1134b-1134d 11350 11357 1135d-11363
            11366-1136c 11370-11374 11400-11459 1145b 1145d 11480-114c7 114d0-114d9 11580-115b5
            115b8-115dd 11600-11644 11650-11659 11660-1166c 11680-116b7 116c0-116c9 11700-11719
            1171d-1172b 11730-1173f 118a0-118f2 118ff 11ac0-11af8 11c00-11c08 11c0a-11c36 11c38-11c45
            11c50-11c6c 11c70-11c8f 11c92-11ca7 11ca9-11cb6 12000-12399 12400-1246e 12470-12474
            12480-12543 13000-1342e 14400-14646 16800-16a38 16a40-16a5e 16a60-16a69 16a6e-16a6f
            16ad0-16aed 16af0-16af5 16b00-16b45 16b50-16b59 16b5b-16b61 16b63-16b77 16b7d-16b8f
            16f00-16f44 16f50-16f7e 16f8f-16f9f 16fe0 17000-187ec 18800-18af2 1b000-1b001 1bc00-1bc6a
            1bc70-1bc7c 1bc80-1bc88 1bc90-1bc99 1bc9c-1bca3 1d000-1d0f5 1d100-1d126 1d129-1d1e8
            1d200-1d245 1d300-1d356 1d360-1d371 1d400-1d454 1d456-1d49c 1d49e-1d49f 1d4a2 1d4a5-1d4a6
            1d4a9-1d4ac 1d4ae-1d4b9 1d4bb 1d4bd-1d4c3 1d4c5-1d505 1d507-1d50a 1d50d-1d514 1d516-1d51c
            1d51e-1d539 1d53b-1d53e 1d540-1d544 1d546 1d54a-1d550 1d552-1d6a5 1d6a8-1d7cb 1d7ce-1da8b
            1da9b-1da9f 1daa1-1daaf 1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a
            1e800-1e8c4 1e8c7-1e8d6 1e900-1e94a 1e950-1e959 1e95e-1e95f 1ee00-1ee03 1ee05-1ee1f
            1ee21-1ee22 1ee24 1ee27 1ee29-1ee32 1ee34-1ee37 1ee39 1ee3b 1ee42 1ee47 1ee49 1ee4b
            1ee4d-1ee4f 1ee51-1ee52 1ee54 1ee57 1ee59 1ee5b 1ee5d 1ee5f 1ee61-1ee62 1ee64 1ee67-1ee6a
            1ee6c-1ee72 1ee74-1ee77 1ee79-1ee7c 1ee7e 1ee80-1ee89 1ee8b-1ee9b 1eea1-1eea3 1eea5-1eea9
            1eeab-1eebb 1eef0-1eef1 1f000-1f02b 1f030-1f093 1f0a0-1f0ae 1f0b1-1f0bf 1f0c1-1f0cf
            1f0d1-1f0f5 1f100-1f10c 1f110-1f12e 1f130-1f16b 1f170-1f1ac 1f1e6-1f202 1f210-1f23b
            1f240-1f248 1f250-1f251 1f300-1f6d2 1f6e0-1f6ec 1f6f0-1f6f6 1f700-1f773 1f780-1f7d4
            1f800-1f80b 1f810-1f847 1f850-1f859 1f860-1f887 1f890-1f8ad 1f910-1f91e 1f920-1f927 1f930
            1f933-1f93e 1f940-1f94b 1f950-1f95e 1f980-1f991 1f9c0 20000-2a6d6 2a700-2b734 2b740-2b81d
            2b820-2cea1 2f800-2fa1d e0001 e0020-e007f e0100-e01ef
            """);
    private static final int PROLONGED_SOUND = 0x30FC; // of kana, but common to several scripts in Unicode

    private ReferenceScripts() {}

    /** The script; kana count as Han, and a space has none, nor has what the library does not know. */
    public static Optional<UnicodeScript> of(int codePoint) {
        if (codePoint == ' ' || !WITH_SCRIPT.contains(codePoint)) {
            return Optional.empty();
        }
        return Optional.of(
                switch (codePoint) {
                    case PROLONGED_SOUND -> UnicodeScript.HAN;
                    case 0x589, 0x61C -> UnicodeScript.COMMON; // moved to Armenian and Arabic since
                    case 0x953, 0x954 -> UnicodeScript.DEVANAGARI; // inherited since
                    default -> withoutKana(UnicodeScript.of(codePoint));
                });
    }

    private static UnicodeScript withoutKana(UnicodeScript script) {
        boolean isKana = script == UnicodeScript.HIRAGANA || script == UnicodeScript.KATAKANA;
        return isKana ? UnicodeScript.HAN : script;
    }
}

"""The languages that `--lang` accepts: two-letter codes (ISO 639-1) with their English names."""

from __future__ import annotations

from difflib import get_close_matches

from monge.errors import InvalidSetting

_CODES = """
aa Afar, ab Abkhazian, ae Avestan, af Afrikaans, ak Akan, am Amharic, an Aragonese, ar Arabic,
as Assamese, av Avaric, ay Aymara, az Azerbaijani, ba Bashkir, be Belarusian, bg Bulgarian,
bi Bislama, bm Bambara, bn Bengali, bo Tibetan, br Breton, bs Bosnian, ca Catalan, ce Chechen,
ch Chamorro, co Corsican, cr Cree, cs Czech, cu Church Slavic, cv Chuvash, cy Welsh, da Danish,
de German, dv Divehi, dz Dzongkha, ee Ewe, el Greek, en English, eo Esperanto, es Spanish,
et Estonian, eu Basque, fa Persian, ff Fulah, fi Finnish, fj Fijian, fo Faroese, fr French,
fy Western Frisian, ga Irish, gd Gaelic, gl Galician, gn Guarani, gu Gujarati, gv Manx, ha Hausa,
he Hebrew, hi Hindi, ho Hiri Motu, hr Croatian, ht Haitian, hu Hungarian, hy Armenian, hz Herero,
ia Interlingua, id Indonesian, ie Interlingue, ig Igbo, ii Sichuan Yi, ik Inupiaq, io Ido,
is Icelandic, it Italian, iu Inuktitut, ja Japanese, jv Javanese, ka Georgian, kg Kongo, ki Kikuyu,
kj Kuanyama, kk Kazakh, kl Kalaallisut, km Khmer, kn Kannada, ko Korean, kr Kanuri, ks Kashmiri,
ku Kurdish, kv Komi, kw Cornish, ky Kyrgyz, la Latin, lb Luxembourgish, lg Ganda, li Limburgan,
ln Lingala, lo Lao, lt Lithuanian, lu Luba-Katanga, lv Latvian, mg Malagasy, mh Marshallese,
mi Maori, mk Macedonian, ml Malayalam, mn Mongolian, mr Marathi, ms Malay, mt Maltese, my Burmese,
na Nauru, nb Norwegian Bokmål, nd North Ndebele, ne Nepali, ng Ndonga, nl Dutch,
nn Norwegian Nynorsk, no Norwegian, nr South Ndebele, nv Navajo, ny Chichewa, oc Occitan, oj Ojibwa,
om Oromo, or Oriya, os Ossetian, pa Punjabi, pi Pali, pl Polish, ps Pashto, pt Portuguese,
qu Quechua, rm Romansh, rn Rundi, ro Romanian, ru Russian, rw Kinyarwanda, sa Sanskrit,
sc Sardinian, sd Sindhi, se Northern Sami, sg Sango, si Sinhala, sk Slovak, sl Slovenian, sm Samoan,
sn Shona, so Somali, sq Albanian, sr Serbian, ss Swati, st Southern Sotho, su Sundanese, sv Swedish,
sw Swahili, ta Tamil, te Telugu, tg Tajik, th Thai, ti Tigrinya, tk Turkmen, tl Tagalog, tn Tswana,
to Tonga, tr Turkish, ts Tsonga, tt Tatar, tw Twi, ty Tahitian, ug Uighur, uk Ukrainian, ur Urdu,
uz Uzbek, ve Venda, vi Vietnamese, vo Volapük, wa Walloon, wo Wolof, xh Xhosa, yi Yiddish,
yo Yoruba, za Zhuang, zh Chinese, zu Zulu
"""
LANGUAGES = {
    code: name for code, _, name in (entry.strip().partition(" ") for entry in _CODES.split(","))
}


def check_language(code: str) -> None:
    """Raise InvalidSetting for an unknown language code; suggest the nearest one."""
    if code in LANGUAGES:
        return
    names = {name.lower(): two_letters for two_letters, name in LANGUAGES.items()}
    near = get_close_matches(code.strip().lower(), [*LANGUAGES, *names], n=1, cutoff=0.85)
    nearest = names.get(near[0], near[0]) if near else ""
    guess = f"; did you mean {nearest} ({LANGUAGES[nearest]})?" if nearest else ""
    raise InvalidSetting(
        f"unknown language {code!r}{guess} (accepted are two letters, as in ISO 639-1: en, de, zh "
        "…)"
    )
